"""The suite finds what is wrong with a store, by the rule that says so.

That it finds nothing where nothing is wrong is shown by `test_suite`.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from scoped_registration.stores.memory import MemoryStore
from scoped_registration.stores.protocol import ThreadStore
from scoped_registration.testing.store_suite import StoreSuite, contents
from tests.stores import broken_commits, broken_contents, broken_leases

RULES = {name for name in dir(StoreSuite) if name.startswith("test_")}

# The fault, the rule that finds it, and what the rule says.
FAULTS = [
    (broken_leases.BeginsAtOne, "a_key_without_a_document_is_leased", "nothing was committed to"),
    (
        broken_leases.HeldByEverybody,
        "a_leased_key_is_refused_to_others",
        "refused to another owner",
    ),
    (broken_leases.LooksAndThenTakes, "many_callers_of_one_key_get_one_lease", "leases of one key"),
    (broken_leases.OneLeaseForAllKeys, "other_keys_do_not_wait", "nobody holds can be acquired"),
    (broken_leases.RefusesItsOwnHolder, "a_lease_may_be_taken_again_by_its_owner", "same owner"),
    (
        broken_leases.ComparesVersionsByOrder,
        "the_document_comes_with_the_lease_unless_it_is_known",
        "=3",
    ),
    (broken_leases.NeverExpires, "a_lease_lasts_for_its_time_and_then_ends", "when its time is up"),
    (broken_leases.CountsMilliseconds, "a_lease_lasts_for_its_time_and_then_ends", "in seconds"),
    (
        broken_leases.LastsUntilSomebodyComes,
        "an_expired_lease_is_lost_though_nobody_came",
        "cannot commit",
    ),
    (broken_leases.RenewsNothing, "a_renewed_lease_outlasts_its_first_time", "begin anew"),
    (broken_leases.AddsTimeWhenItRenews, "a_renewal_counts_from_now", "when its time is up"),
    (broken_leases.RenewsForAnybody, "only_the_holder_renews", "only the holder"),
    (broken_leases.RenewsForAnybody, "a_lost_holder_neither_renews_nor_releases", "not renewed"),
    (
        broken_leases.ReleasesForAnybody,
        "a_lost_holder_neither_renews_nor_releases",
        "does not release",
    ),
    (
        broken_leases.ReleasesForAnybody,
        "a_release_is_harmless_when_there_is_nothing_to_release",
        "second",
    ),
    (broken_leases.ReleasesNothing, "a_released_key_is_free", "not renewed"),
    (broken_commits.Unfenced, "a_lost_holder_cannot_commit", "was taken over"),
    (broken_commits.Unfenced, "only_the_holder_commits", "by another owner"),
    (
        broken_commits.FencedByACounter,
        "a_lost_holder_stays_lost_when_its_successor_has_gone",
        "held again",
    ),
    (broken_commits.NeedsTheLeaseToRepeat, "a_repeated_commit_writes_once", "lease_lost"),
    (
        broken_commits.NeedsTheLeaseToRepeat,
        "a_commit_may_be_repeated_when_its_lease_has_expired",
        "lost",
    ),
    (
        broken_commits.WritesAnyVersion,
        "a_repeated_commit_writes_once",
        "version of a repeated commit",
    ),
    (
        broken_commits.WritesAnyVersion,
        "a_commit_of_another_version_is_refused",
        "replaces version 0",
    ),
    (broken_commits.WritesAnyVersion, "commits_at_the_same_time_write_once", "repeated at once"),
    (broken_commits.CommitsInTwoSteps, "commits_at_the_same_time_write_once", "repeated at once"),
    (
        broken_commits.KeepsWhatItShouldRelease,
        "a_commit_with_release_ends_the_lease",
        "ends the lease",
    ),
    (broken_commits.AlwaysReleases, "each_commit_makes_the_next_version", "lease_lost"),
    (
        broken_commits.ReleasesAnyLeaseWhenItCommits,
        "a_repeated_commit_leaves_the_next_lease_alone",
        "ends",
    ),
    (
        broken_commits.RepeatsWithoutReleasing,
        "a_repeated_commit_releases_what_the_first_one_kept",
        "holds",
    ),
    (
        broken_contents.LoadsNothingThatIsLeased,
        "a_document_can_be_loaded_while_it_is_leased",
        "load",
    ),
    (broken_contents.DeletesWhatIsLeased, "a_leased_document_is_not_deleted", "while it is leased"),
    (broken_contents.DeletesAgain, "there_may_be_nothing_to_delete", "returns False"),
    (
        broken_contents.ForgetsTheVersion,
        "the_version_of_a_deleted_document_does_not_come_back",
        "version",
    ),
    (broken_contents.EmptyIsNothing, "any_bytes_come_back_as_they_were", "nothing at all"),
    (broken_contents.LendsViews, "any_bytes_come_back_as_they_were", "as bytes"),
    (broken_contents.KeepsText, "any_bytes_come_back_as_they_were", "each byte"),
    (broken_contents.Unpickles, "any_bytes_come_back_as_they_were", "were unpickled"),
    (broken_contents.IgnoresCaseAndSpace, "keys_do_not_mix", "nobody holds can be acquired"),
    (broken_contents.CutsKeys, "keys_of_200_characters_do_not_mix", "nobody holds can be acquired"),
    (broken_contents.HasNoAnswer, "it_is_a_store", "per_process"),
    (
        broken_contents.OnlySaysThatItIsShared,
        "two_stores_of_one_engine_see_the_same",
        "another store",
    ),
    (broken_contents.ForgetsWhenItIsClosed, "closing_keeps_what_was_written", "after aclose"),
    (
        broken_contents.StuckAfterACancellation,
        "a_cancelled_call_leaves_the_store_usable",
        "TimeoutError",
    ),
    (broken_contents.BoundToItsLoop, "one_event_loop_after_another", "a different loop"),
    (broken_contents.ShowsItsPassword, "nothing_secret_is_said", "a secret"),
    (broken_contents.LogsDocuments, "nothing_secret_is_said", "a document"),
]


class Hurried(StoreSuite):
    ttl = 0.3
    patience = 0.5
    secrets: Sequence[str] = (broken_contents.SECRET,)

    def __init__(self, make: type[MemoryStore]) -> None:
        self._make = make

    async def make_store(self) -> ThreadStore:
        return self._make()


class MoreHurried(Hurried):
    limit = 2.0  # for a fault that only hangs


@pytest.mark.parametrize(
    ("fault", "rule", "said"), FAULTS, ids=[f"{fault.__name__}-{rule}" for fault, rule, _ in FAULTS]
)
def test_a_fault_is_found(fault: type[MemoryStore], rule: str, said: str) -> None:
    suite = MoreHurried(fault) if said == "TimeoutError" else Hurried(fault)
    with pytest.raises(Exception) as caught:  # noqa: PT011  # what it says is compared below
        getattr(suite, f"test_{rule}")()
    assert any(said in text for text in texts_of(caught.value)), repr(caught.value)


def test_each_rule_finds_a_fault() -> None:
    assert {f"test_{rule}" for _, rule, _ in FAULTS} == RULES


def test_the_pickle_that_nobody_may_load_leaves_a_mark() -> None:
    marks = contents._unpickled  # pyright: ignore[reportPrivateUsage]
    before = len(marks)
    pickle.loads(contents._TRAP)  # noqa: S301  # pyright: ignore[reportPrivateUsage]
    assert len(marks) == before + 1


def test_a_suite_says_how_its_store_is_made() -> None:
    with pytest.raises(NotImplementedError):
        StoreSuite().test_it_is_a_store()


def texts_of(error: BaseException) -> Iterator[str]:
    """Say what an error says, and what those in it say."""
    yield f"{type(error).__name__}: {error}"
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from texts_of(inner)
