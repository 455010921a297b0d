"""One real result of every public type, made by an untrained model in a moment."""

from pathlib import Path

import augenmerk as api
from tests.core.translators import ENGLISH, GERMAN, read_given

HEAD = api.Head("cross", 1, 2)
GOLD = tuple(
    api.GoldPair(line, ("Ein", noun), ("A", "man"), frozenset({(0, 0)}), frozenset({(0, 0)}))
    for line, noun in enumerate(("Mann", "Hund", "Junge", "Mann"), start=1)
)


def public_results(model: api.Translator, text: str = GERMAN[0]) -> dict[str, object]:
    """Values of public types by the names of these, about a text and a given translation."""
    translation = read_given(model, text, ENGLISH[0])
    experiment = api.Experiment(
        text, api.GivenTarget(ENGLISH[0]), (api.HeadScaled(HEAD), api.AttentionRow(HEAD, 1, (1.0,)))
    )
    off = api.Experiment(text, api.GivenTarget(ENGLISH[0]), (api.HeadScaled(HEAD),))
    parts = api.word_parts(model, translation, 1)
    row = api.query_key_parts(model, translation, HEAD, 1)
    cell = row.of_cell(0)
    ranking = api.rank_aligners(model, GOLD)
    labelled = api.Selection().apply(translation.maps.cross, translation, "cross")
    occlusion = api.occlude_source_words(model, translation)
    pair = api.WordPair(text, "A", "man", "dog", "line 1")
    lens = api.logit_lens(model, translation)
    rare = api.RareWord("Fußballspielerinnen" * 5, 0, 0, 3, ("Fuß", "ball", "spielerinnen"))
    respelled = api.RespelledWord("strasse", "straße", 0, 1)
    saved = api.SavedExperiment(experiment, api.ModelReference("model" * 90, "0" * 64))
    table = cell.table()
    compared = api.compare_translations([text] * 9, [text[1:]] * 9, [text] * 9)
    values = [
        *(translation, translation.maps, translation.alternatives[0][0], model, experiment, parts),
        *(translation.target_words[0], model.compare(off), row, cell, ranking, ranking.scores[0]),
        *(
            ranking.scores[0].aligner,
            labelled,
            labelled.queries,
            api.difference(labelled, labelled),
        ),
        *(
            occlusion,
            occlusion.words[0],
            lens,
            lens.depths[1],
            api.decoder_lens(model, translation),
        ),
        *(api.encoder_parts(model, parts), api.contributions_of(model, translation), GOLD[0], pair),
        *(api.attribute_pairs(model, [pair]), api.head_importance(model, [text], [ENGLISH[0]])),
        *(api.align(model, translation, ranking.best.aligner)[0], rare, respelled, table),
        *(
            api.Coverage((rare,) * 9, False, "", (respelled,) * 9),
            saved,
            saved.model,
            table.rows[0],
        ),
        *(experiment.output, api.Greedy(), api.Beam(4), HEAD, api.Network("decoder", 0)),
        *(*experiment.interventions, api.FeedForwardScaled(api.Network("decoder", 0))),
        *(api.SoftmaxTemperature(HEAD, 2.0), api.CausalMaskLifted(), api.ForcedToken(0, text)),
        *(api.SourceWordRemoved(0), api.SourceWordReplaced(0, text), api.Selection()),
        *(api.Origin.TOKEN, api.ImportOptions(), ranking.scores[0].choosing, model.checkpoint),
        *(model.device, model.rules, model.compile(off), model.pass_over(translation)),
        *(model.translate_corpus([text])[0], experiment.changes, api.TrainingEvent()),
        *(compared, compared.scores[0], compared.most_different[0]),
        api.Note("cut", text * 40),
        api.CorpusScores(1, 0.0, (0.0, 0.0), 0.0, (0.0, 0.0), "nrefs:1" * 90, 0.0, (0.0, 0.0), 0.0),
        api.TrainingFinished("completed", 1, 1, 1, 0.1, Path("a" * 90), Path("b" * 900), 0.1),
        api.ImportSummary("m" * 300, "Marian", ("de", "en"), (), 1, 1, 1, False, None, None),
    ]
    return {type(value).__name__: value for value in values}
