"""All claims of a paper."""

from nmtcore.config.claims import Claim, table_claims
from nmtcore.config.published import Paper


def paper_claims(paper: Paper) -> list[Claim]:
    """List the claims of all tables."""
    return [claim for name in paper.tables for claim in table_claims(paper, name)]
