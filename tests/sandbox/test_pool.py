"""Places for passes: never more than there are, in order, and nobody waits for somebody who waits for them."""

import asyncio

import pytest

from codemode_jupyter.errors import CodemodeError
from codemode_jupyter.sandbox.pool import Pool


class Guests:
    """Tasks that hold places of a pool until they are let go."""

    def __init__(self, pool):
        self.pool = pool
        self.inside, self.came, self.most = set(), [], 0
        self.doors, self.tasks = {}, {}

    def come(self, name, *, alone=False):
        self.doors[name] = asyncio.Event()
        self.tasks[name] = asyncio.create_task(self._stay(name, alone))
        return self.tasks[name]

    async def _stay(self, name, alone):
        async with self.pool.place(alone=alone):
            self.inside.add(name)
            self.came.append(name)
            self.most = max(self.most, len(self.inside))
            try:
                await self.doors[name].wait()
            finally:
                self.inside.discard(name)

    async def go(self, *names):
        for name in names:
            self.doors[name].set()
            await self.tasks[name]
        await turns()


async def turns():
    for _ in range(5):
        await asyncio.sleep(0)


async def test_no_more_than_there_are_places_and_the_others_come_in_order():
    guests = Guests(Pool(2))
    for number in range(5):
        guests.come(number)
    await turns()
    assert (guests.came, guests.pool.waiting) == ([0, 1], 3)
    await guests.go(1)
    assert guests.came == [0, 1, 2]
    await guests.go(0, 2, 3, 4)
    assert (guests.came, guests.most, guests.pool.waiting) == ([0, 1, 2, 3, 4], 2, 0)


async def test_who_gives_up_waiting_holds_nobody_up():
    guests = Guests(Pool(1))
    guests.come("first")
    await turns()
    quitter = guests.come("quitter")
    guests.come("next")
    await turns()
    quitter.cancel()
    await turns()
    assert quitter.cancelled()
    await guests.go("first")
    assert guests.inside == {"next"}
    await guests.go("next")


async def test_a_place_given_to_one_who_is_cancelled_in_that_moment_goes_on_to_the_next():
    guests = Guests(Pool(1))
    guests.come("first")
    await turns()
    quitter = guests.come("quitter")
    guests.come("next")
    await turns()
    guests.doors["first"].set()
    await guests.tasks["first"]  # the place is on its way
    quitter.cancel()
    await turns()
    assert guests.inside == {"next"}
    await guests.go("next")
    assert guests.come("last")
    await turns()
    assert guests.inside == {"last"}
    await guests.go("last")


async def test_who_wants_to_be_alone_waits_for_all_and_lets_nobody_in():
    guests = Guests(Pool(3))
    guests.come("a")
    guests.come("b")
    await turns()
    guests.come("alone", alone=True)
    guests.come("after")
    await turns()
    assert guests.inside == {"a", "b"}
    await guests.go("a")
    assert guests.inside == {"b"}
    await guests.go("b")
    assert guests.inside == {"alone"}
    await guests.go("alone")
    assert guests.inside == {"after"}
    await guests.go("after")


async def test_when_the_lonely_one_gives_up_the_others_come_in():
    guests = Guests(Pool(2))
    guests.come("a")
    await turns()
    lonely = guests.come("alone", alone=True)
    guests.come("after")
    await turns()
    lonely.cancel()
    await turns()
    assert guests.inside == {"a", "after"}
    await guests.go("a", "after")


async def test_a_place_within_a_place_does_not_wait_for_it():
    pool = Pool(1)

    async def nested(depth):
        async with pool.place():
            return depth if depth == 3 else await asyncio.create_task(nested(depth + 1))

    async with asyncio.timeout(5):
        assert await nested(0) == 3
        assert await asyncio.gather(*(nested(0) for _ in range(5))) == [3] * 5


async def test_loops_in_several_threads_share_the_places():
    pool = Pool(1)
    inside, most = 0, 0

    async def visit():
        nonlocal inside, most
        async with pool.place():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1

    async def visits():
        await asyncio.gather(*(visit() for _ in range(20)))

    async with asyncio.timeout(20):
        await asyncio.gather(*(asyncio.to_thread(asyncio.run, visits()) for _ in range(4)))
    assert (most, pool.waiting) == (1, 0)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "8"])
def test_a_size_that_is_no_number_of_places_is_refused(size):
    with pytest.raises(CodemodeError, match="max_passes") as refusal:
        Pool(size)
    assert refusal.value.code == "invalid_option"
