"""The dispatcher: decides which job is sent when. Its state is the plans and done records in the store."""
