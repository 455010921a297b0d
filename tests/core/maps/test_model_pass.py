"""The values of a pass that measures read."""

import numpy as np
import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.model.sites import PairPass, sites_of, trace_sites
from tests.core.model.small_models import make_model

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]


def test_a_pass_gives_the_value_at_every_site() -> None:
    pair = PairPass(make_model(), SOURCE, READ)
    model_pass = Pass(pair)
    values = trace_sites(pair, sites_of(pair.model))
    for site, value in values.items():
        np.testing.assert_allclose(
            model_pass.value(site), value[0].detach().numpy(), rtol=1e-5, atol=1e-5
        )
    query = model_pass.value("decoder.1.cross_attention.query")
    np.testing.assert_allclose(query, model_pass.heads("cross").queries[1], rtol=1e-5, atol=1e-5)


def test_a_site_that_the_model_lacks_is_named_with_those_it_has() -> None:
    with pytest.raises(
        AnalysisError, match=r"no site “decoder\.9\.output”.*decoder\.0\.cross_attention\.query"
    ):
        Pass(PairPass(make_model(), SOURCE, READ)).value("decoder.9.output")
