import pytest

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.extensions.train.playback import Playback
from tests.viz_app.extensions.train.scripted import probe, sample


@pytest.fixture
def playback() -> Playback:
    """A film of four frames, the last two of them alike, and three samples."""
    playback = Playback()
    for epoch, text in enumerate((". .", "a a", "a man .", "a man .")):
        playback.add(probe(epoch, text))
        if epoch:
            playback.add(sample(epoch))
    return playback


def shown(playback: Playback) -> tuple[int | None, int | None]:
    """Epochs of the frame and of the sample that are shown."""
    frame, translated = playback.frame, playback.sample
    return frame.epoch if frame else None, translated.epoch if translated else None


def test_newest_is_shown_and_followed(playback: Playback) -> None:
    assert shown(playback) == (3, 3)
    playback.add(probe(4))
    playback.add(sample(4))
    assert shown(playback) == (4, 4)
    assert playback.follows


def test_chosen_step_stays_when_newer_ones_come(playback: Playback) -> None:
    playback.show_frame(1)
    playback.add(probe(4))
    playback.add(sample(4))
    assert shown(playback) == (1, 1)
    assert playback.maps.translation is playback.frames[1].translation
    playback.show_frame(4)
    assert playback.follows


def test_the_untrained_model_has_a_frame_and_no_sample(playback: Playback) -> None:
    playback.show_step(-100)
    assert shown(playback) == (0, None)


def test_clicked_step_goes_to_the_nearest_step(playback: Playback) -> None:
    playback.show_step(6.9)
    assert playback.shown_step == 5
    playback.show_step(8.2)
    assert playback.shown_step == 10


def test_walking_ends_at_the_ends(playback: Playback) -> None:
    assert not playback.walk(1)
    assert [playback.walk(-1) for _ in range(4)] == [True, True, True, False]
    assert shown(playback) == (0, None)


def test_head_is_picked_by_the_newest_frame_until_a_person_chooses_one(playback: Playback) -> None:
    playback.maps.selection.choose(Head("encoder", 1, 2))
    playback.show_frame(0)
    playback.add(probe(4))
    assert playback.maps.selection.head == Head("encoder", 1, 2)
    frame = playback.frames[2]
    assert (playback.map_of(frame) == frame.translation.maps.encoder[1, 2]).all()


def test_changes_of_the_translation_are_found(playback: Playback) -> None:
    assert playback.changes_of_text() == [1, 2]


def test_steps_that_a_resumed_run_goes_through_again_are_dropped(playback: Playback) -> None:
    playback.show_frame(2)
    playback.drop_after(5)
    assert shown(playback) == (1, 1)
    assert playback.steps == [0, 5]
    assert playback.follows


def test_frame_of_the_same_step_replaces_the_older_one(playback: Playback) -> None:
    playback.add(probe(2, "a dog ."))
    assert [frame.epoch for frame in playback.frames] == [0, 1, 2]
    assert playback.frames[2].translation.text == "A dog."


def test_empty_playback_shows_nothing() -> None:
    playback = Playback()
    playback.show_step(5)
    assert shown(playback) == (None, None)
    assert playback.shown_step is None
    assert not playback.walk(1)
