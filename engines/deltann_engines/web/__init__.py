"""A headless browser as a device: the page, the server that feeds it, and the protocol that drives it."""
