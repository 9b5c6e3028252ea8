"""torchrun without stack traces: `python -m nmtcore.training.torchrun` takes its arguments.

The processes themselves say why they ended; torchrun adds a table of their ends.
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
