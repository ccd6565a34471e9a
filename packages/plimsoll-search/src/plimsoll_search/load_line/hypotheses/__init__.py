"""What may have made the DUT lose frames: one explanation a file, weighed against each other."""
