"""Asks which heads align best. Runs in the worker's thread."""

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from core.errors import AnalysisError
from core.translation.result import TranslationStoppedError
from viz_app.analysis.alignment.state import RankedAligner, RankedAligners
from viz_app.analysis.jobs import ShouldStop, Tell, real
from viz_app.state.progress import Progress
from viz_app.worker import JobScope, TranslatorLike


@dataclass(frozen=True, eq=False)
class RankAlignersJob:
    """Every layer × head × label mode × measure on the gold pairs that are shipped. Begins again if stopped."""

    scope: ClassVar[JobScope] = "model"

    def run(self, translator: TranslatorLike, progress: Tell, should_stop: ShouldStop) -> RankedAligners:
        """See `viz_app.worker.Job.run`."""
        from core.analysis.alignment import Links, read_gold, read_ibm_1
        from core.analysis.alignment_ranking import rank_aligners

        others: dict[str, dict[int, Links]] = {}
        with suppress(AnalysisError):  # without its file the diagonal is the only baseline
            others["IBM model 1"] = read_ibm_1()

        def tell(done: int, total: int) -> None:
            progress(Progress(done, total, f"{done} of {total} pairs"))

        found = rank_aligners(real(translator), read_gold(), others, on_progress=tell, should_stop=should_stop)
        if not found.is_complete:
            raise TranslationStoppedError
        return RankedAligners(
            aligners=tuple(
                RankedAligner(
                    "",
                    each.aligner.layer,
                    each.aligner.head,
                    each.aligner.label_mode,
                    each.aligner.measure,
                    each.choosing.aer,
                    each.reporting.aer,
                )
                for each in found.scores
            ),
            baselines=tuple(
                RankedAligner(each.name, None, None, None, None, each.choosing.aer, each.reporting.aer)
                for each in found.baselines
            ),
            num_choosing=found.num_choosing,
            num_reporting=found.num_reporting,
            num_skipped=found.num_skipped,
        )
