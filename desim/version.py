"""The version of desim: that of the distribution and of every record written."""

__version__ = "0.1.0"
