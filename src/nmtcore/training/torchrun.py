"""torchrun without stack traces: `python -m nmtcore.training.torchrun` takes torchrun's arguments.

Each process prints its own error; torchrun adds a table of exit statuses.
"""

import sys

from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.run import main

if __name__ == "__main__":
    try:
        main()
    except (ChildFailedError, SignalException) as error:
        sys.exit(str(error))
