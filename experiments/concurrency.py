"""How near do many episodes of a language model come to the time of its replies alone?

A suite of the Beer Game is played, all episodes at once, against a scripted endpoint in a process
of its own. The bound is weeks x seconds of a reply: replies of an episode follow each other, those
of others come meanwhile. What is above it is computation: worlds, records, requests, the endpoint.
"""

import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from asyncio import StreamReader, StreamWriter
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import click

#: Seconds before the endpoint replies, what it replies, and how much of a request is read at once.
REPLY, BUFFER = 0.05, 2**20
BODY = '{"choices": [{"message": {"content": "{\\"order_qty\\": 120}"}}]}'

SUITE = """
seeds = "0:{episodes}"
concurrent = {episodes}
worlds.beer = {{ model = "beer_game", set = {{ horizon = {weeks} }} }}
entries.model = {{ model = "scripted", base_url = "http://127.0.0.1:{port}/v1" }}
"""


def serve(pipe: Connection) -> None:
    """Send the port; after a message, send the number of requests and the seconds they took."""
    times: list[float] = []

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        while head := await reader.read(BUFFER):
            while not head.endswith(b"}"):
                head += await reader.read(BUFFER)
            times.append(time.perf_counter())
            await asyncio.sleep(REPLY)
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(BODY)}\r\n\r\n{BODY}".encode())
        writer.close()

    async def until_told() -> None:
        async with await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1_000) as server:
            pipe.send(server.sockets[0].getsockname()[1])
            await asyncio.to_thread(pipe.recv)

    asyncio.run(until_told())
    pipe.send((len(times), max(times) - min(times) + REPLY))


@click.command(help=__doc__)
@click.option("--episodes", default=100, type=click.IntRange(1, 1_000))
@click.option("--weeks", default=40, type=click.IntRange(1, 1_000))
def main(episodes: int, weeks: int) -> None:
    """Play the suite and print the ratio."""
    pipe, end = get_context("spawn").Pipe()
    get_context("spawn").Process(target=serve, args=(end,), daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "suite.toml"
        suite.write_text(SUITE.format(episodes=episodes, weeks=weeks, port=pipe.recv()))
        command = ["-m", "desim", "bench", str(suite), "--out", f"{folder}/out", "--yes"]
        subprocess.run([sys.executable, *command], check=True, capture_output=True)  # noqa: S603 (ours)
    pipe.send("end")
    requests, seconds = pipe.recv()
    used, bound = resource.getrusage(resource.RUSAGE_CHILDREN), weeks * REPLY
    click.echo(
        f"{requests} requests of {episodes} episodes took {seconds:.2f} s, {seconds / bound:.2f} "
        f"times the bound of {weeks} x {REPLY} s; the command used {used.ru_utime:.2f} s of a "
        "processor, its start and its results included"
    )


if __name__ == "__main__":
    main()
