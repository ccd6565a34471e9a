"""The plimsoll command with a record of causes that has room for every incident of a trial.

A run keeps the worst hundred of a kind. On a busy machine those may all be others' doing, and
whether each provoked disturbance is explained could not be seen.
"""

from plimsoll.attribution.ranking import trial_causes
from plimsoll.benchmark.testbed import disturbances
from plimsoll.cli.main import main

_ALL = 1_000_000

if __name__ == "__main__":
    trial_causes._KEPT_OF_A_KIND = _ALL
    disturbances._EXPLAINED_OF_A_KIND = _ALL
    main()
