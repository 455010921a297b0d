"""What am I looking at? The large map in a few plain sentences. No Qt."""

from core.analysis.measures import MEASURES
from viz_app.state.translate_state import TranslateState


def explain(state: TranslateState) -> str:
    """A few lines about the map as it is shown now; empty while nothing is."""
    view = state.view()
    if view is None:
        return ""
    lines = [_cells(state), _rows_and_columns(state)]
    if state.hides_wrapping or state.hides_punctuation:
        lines.append(
            f"Hidden tokens took {100 * view.hidden_share:.0f} % of these rows; what is left of each row is scaled up "
            "to its former sum."
        )
    lines.append(
        "Much weight on <eos> or on the full stop often means that a head has nothing to do there. Weights show where "
        "the model looks, not why it chose a word; to see what a head does, switch it off."
    )
    return "\n".join(lines)


def _cells(state: TranslateState) -> str:
    how = {"mean": "the mean over", "max": "the largest value among"}[state.combination]
    num_heads = len(state.heads(state.choice, state.shape(state.choice.kind)))
    several = f" Each cell is {how} {num_heads} heads." if state.scope != "head" and num_heads > 1 else ""
    description = MEASURES[state.measure_of_choice]
    return f"Cells: {description.title}. {description.meaning} {description.caveat}{several}"


def _rows_and_columns(state: TranslateState) -> str:
    source, target = state.languages
    words = " Words made of several pieces are summed over their columns and averaged over their rows."
    merged = words if state.merges_words and state.has_split_words else ""
    if state.choice.kind == "encoder":
        return f"Rows and columns are the {source} tokens that the encoder reads.{merged}"
    named = (
        f"Rows are named by the {target} token that the decoder reads there; it predicts the next one."
        if state.label_mode == "read"
        else f"Rows are named by the {target} token that the decoder predicts there; it reads the one before."
    )
    columns = f"the {target} tokens read so far" if state.choice.kind == "decoder" else f"the {source} tokens"
    return f"{named} Columns are {columns}.{merged}"
