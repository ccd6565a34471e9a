"""Multiple Loss Ratio search, RFC 9971: classification to the letter, a search of our own."""
