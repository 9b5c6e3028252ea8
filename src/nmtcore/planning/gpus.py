"""How the jobs of a plan share the GPUs of this machine."""

from collections.abc import Iterable
from typing import NamedTuple

from nmtcore.config.project import Project


class SharedGpus(NamedTuple):
    """How many jobs may share a GPU, and the resource `gpu`: so many slots on each of them."""

    jobs: int
    slots: int


def shared_gpus(project: Project, roots: Iterable[str], *, visible: int) -> SharedGpus:
    """Return how jobs share GPUs: as config.yaml says, or else as the strictest of the scales with these `roots`.

    `visible` is the number of GPUs here. Training that asks for more gets its slots, and says itself what is missing.
    """
    scales = (project.scale(project.layout.scale(root)) for root in roots)
    jobs = project.settings.machine.jobs_per_gpu or min((scale.jobs_per_gpu for scale in scales), default=1)
    return SharedGpus(jobs, jobs * max(visible, project.settings.gpus))
