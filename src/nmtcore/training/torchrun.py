"""torchrun without stack traces: `python -m nmtcore.training.torchrun` takes its arguments.

The processes have said why they ended; torchrun itself adds a table of who ended how.
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
