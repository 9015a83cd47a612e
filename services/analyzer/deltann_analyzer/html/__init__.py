"""The report as one self-contained page: what it shows (view), what it draws (SVG) and its templates."""
