"""The books of the lender: postings, closings, statements."""
