"""Asks which heads align best. Runs in the worker's thread."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from augenmerk.core.errors import AnalysisError
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.viz_app.analysis.sample_languages import check_languages
from augenmerk.viz_app.state.experiment_state import Progress
from augenmerk.viz_app.worker.inference import JobScope, OpenTranslator, ShouldStop, Tell

if TYPE_CHECKING:
    from augenmerk.core.analysis.alignment import Links
    from augenmerk.core.analysis.alignment_ranking import AlignerRanking


@dataclass(frozen=True, eq=False)
class RankAlignersJob:
    """Every layer × head × label mode × measure on the gold pairs that are shipped. Begins again if stopped.

    Attributes:
        target_code: the token `>>xx<<` that says into which language, of a model of several; None if none is chosen.
    """

    target_code: str | None = None
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> "AlignerRanking":
        """See `Job.run`."""
        check_languages(translator.run_config, "de", "en", self.target_code)
        from augenmerk.core.analysis.alignment import read_gold, read_ibm_1
        from augenmerk.core.analysis.alignment_ranking import rank_aligners

        others: dict[str, dict[int, Links]] = {}
        with suppress(AnalysisError):  # without its file the diagonal is the only baseline
            others["IBM model 1"] = read_ibm_1()

        def tell(done: int, total: int) -> None:
            progress(Progress(done, total, f"{done} of {total} pairs"))

        found = rank_aligners(
            translator,
            read_gold(),
            others,
            target_code=self.target_code or "",
            on_progress=tell,
            should_stop=should_stop,
        )
        if not found.is_complete:
            raise TranslationStoppedError
        return found
