"""Parts that agent methods are made of."""
