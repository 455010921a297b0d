"""The role of a head: a badge, derived from its statistics by the thresholds below. No torch.

After the roles that Voita et al. 2019 ("Analyzing Multi-Head Self-Attention") and Clark et al. 2019 ("What Does BERT
Look At?") describe; the thresholds are this project's own.
"""

from typing import Literal

from augenmerk.core.analysis.profiles import HeadProfiles
from augenmerk.core.percent import percent

Role = Literal["previous", "next", "self", "end-token sink", "start-token sink", "aligner", "broad", "mixed"]

POSITION_SHARE = 0.3
"""A positional head gives at least this share of its weight to one neighbour, or to its own token.

Chosen in a gap of the bundled model, on two samples of 200 sentences of Multi30k's validation split: the largest such
share of an encoder head is at least 0.32 or at most 0.29, of a decoder head at least 0.31 or at most 0.29. At 0.4 and
at 1/3, badges would depend on the sample.
"""
SINK_SHARE = 0.5
"""A sink gives at least this share of its weight to `<eos>` or `<sos>`, usually to do nothing."""
ALIGNER_CONFIDENCE = 0.5
"""An aligner gives at least this share of a row to one key on average …"""
ALIGNER_COVERAGE = 0.65
"""… and its keys cover at least this share of the words they could cover in a sentence.

Chosen by alignment quality. Over the 24 cross heads of the bundled model, Spearman's correlation of coverage with the
alignment error rate on `resources/alignments` is −0.72 on one half of the pairs and −0.64 on the other (of confidence:
−0.58 and −0.65). On two samples of 200 sentences the same nine heads pass, including the six best of all; a tenth is at
the threshold (0.651 and 0.639) and passes once.
"""
BROAD_RELATIVE_ENTROPY = 0.73
"""A broad head has at least this share of the entropy of equal weights.

Chosen in a gap of the bundled model, on the samples of `POSITION_SHARE`: at least 0.74, or at most 0.72.
"""

ROLES: dict[Role, str] = {
    "previous": f"gives at least {percent(POSITION_SHARE)} of its weight to the token before (self-attention)",
    "next": f"gives at least {percent(POSITION_SHARE)} of its weight to the token after (self-attention)",
    "self": f"gives at least {percent(POSITION_SHARE)} of its weight to the token itself (self-attention)",
    "end-token sink": f"gives at least {percent(SINK_SHARE)} of its weight to <eos>",
    "start-token sink": f"gives at least {percent(SINK_SHARE)} of its weight to <sos>",
    "aligner": "points at one source word at a time "
    f"(largest weight at least {percent(ALIGNER_CONFIDENCE)} on average) and at different ones in turn "
    f"(at least {percent(ALIGNER_COVERAGE)} of those it could) (cross-attention)",
    "broad": "spreads its weight over many tokens "
    f"(entropy at least {percent(BROAD_RELATIVE_ENTROPY)} of that of equal weights)",
    "mixed": "none of the others",
}


def role_of(profiles: HeadProfiles, layer: int, head: int) -> Role:
    """The role of one head: the first in `ROLES` that fits, with two exceptions.

    Among positional roles the largest share wins, and a broad head is not positional.
    """
    place = layer, head
    is_broad = profiles.relative_entropy[place] >= BROAD_RELATIVE_ENTROPY
    if profiles.kind != "cross" and not is_broad:  # of few tokens in sight, even weights give much to each
        shares: dict[Role, float] = {
            "previous": profiles.previous_share[place],
            "next": profiles.next_share[place],
            "self": profiles.self_share[place],
        }
        largest = max(shares, key=lambda role: float(shares[role]))
        if shares[largest] >= POSITION_SHARE:
            return largest
    if profiles.end_share[place] >= SINK_SHARE:
        return "end-token sink"
    if profiles.start_share[place] >= SINK_SHARE:
        return "start-token sink"
    points = profiles.confidence[place] >= ALIGNER_CONFIDENCE and profiles.coverage[place] >= ALIGNER_COVERAGE
    if profiles.kind == "cross" and points:
        return "aligner"
    return "broad" if is_broad else "mixed"


def roles_of(profiles: HeadProfiles) -> tuple[tuple[Role, ...], ...]:
    """The roles of all heads of a kind, L tuples of H."""
    num_layers, num_heads = profiles.entropy.shape
    return tuple(tuple(role_of(profiles, layer, head) for head in range(num_heads)) for layer in range(num_layers))
