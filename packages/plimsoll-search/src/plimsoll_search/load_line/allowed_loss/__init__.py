"""Goals that allow some loss: what absences of the DUT lose together, and the load it permits."""
