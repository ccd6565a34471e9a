"""A plugfest: DUTs held against each other over chains, flows, frame sizes and noise."""
