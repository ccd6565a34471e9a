"""Times at which the DUT is away: how long they are, what makes them, what they allow."""
