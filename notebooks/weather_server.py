"""A small MCP server: what was measured in Seattle from 2012 to 2015 (a file that comes with ``vega_datasets``).

Started by ``connectors.ipynb``; speaks the Model Context Protocol on its standard input and output.
"""

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel
from vega_datasets import local_data

measured = local_data.seattle_weather()
server = MCPServer("weather", instructions="Daily measurements of Seattle, 2012 to 2015.")
only_reads = ToolAnnotations(read_only_hint=True)


class Month(BaseModel):
    """A month's weather: its rainy days, millimetres of rain, and highest temperature in °C."""

    month: str
    rainy_days: int
    mm: float
    hottest: float


class Year(BaseModel):
    """A year's weather, month by month."""

    year: int
    months: list[Month]


@server.tool(annotations=only_reads)
def years() -> list[int]:
    """The years that there are measurements of."""
    return sorted({int(year) for year in measured["date"].dt.year})


@server.tool(annotations=only_reads)
def year(year: int) -> Year:
    """The weather of a year, month by month: rain and the highest temperature."""
    days = measured[measured["date"].dt.year == year]
    if days.empty:
        raise ToolError(f"There are no measurements of {year}, only of {years()}.")
    months = [
        Month(
            month=month,
            rainy_days=int((part["precipitation"] > 0).sum()),
            mm=round(float(part["precipitation"].sum()), 1),
            hottest=float(part["temp_max"].max()),
        )
        for month, part in days.groupby(days["date"].dt.strftime("%Y-%m"))
    ]
    return Year(year=year, months=months)


if __name__ == "__main__":
    server.run("stdio")
