"""Figures that a scenario asks for: a kind, and what its axes are to be."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import GetJsonSchemaHandler, model_serializer, model_validator
from pydantic_core import CoreSchema

from pausefl.schema.base import Settings
from pausefl.schema.types import Count, Items, OneOf, Real

#: Kinds of figures of a scenario (`pausefl.figures.kinds`), and what each shows; in the order of pages.
FIGURE_KINDS = {
    "accuracy_vs_time": "test accuracy against simulated time",
    "leakage_vs_time": "budget spent against simulated time",
    "leakage_vs_rounds": "budget spent against rounds",
    "loss_vs_time": "test loss against simulated time",
    "spending_vs_rounds": "what every user has spent, against rounds",
    "selections": "who was selected when",
}

AxisScale = Literal["linear", "log"]
Limits = Annotated[tuple[Annotated[float, Real()], ...], Items(2, 2)]


class FigureSettings(Settings):
    """A figure of a scenario. Where nothing but its kind is given, the name of that will do."""

    kind: Annotated[str, OneOf(FIGURE_KINDS)]
    """What it shows."""
    x_scale: AxisScale | None = None
    """Scale of its horizontal axis; by default `linear`. Not of `selections`, nor is any other key."""
    y_scale: AxisScale | None = None
    """Scale of its vertical axis; by default `linear`, but `log` for losses that span much."""
    x_limits: Limits | None = None
    """Where its horizontal axis begins and ends."""
    y_limits: Limits | None = None
    """Where its vertical axis begins and ends."""
    window: Count | None = None
    """Rounds of the trailing mean that is shown of an accuracy or a loss; by default 10."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Also the name of a kind alone."""
        whole = super().__get_pydantic_json_schema__(core, handler)
        return {"anyOf": [whole, {"type": "string", "enum": [*FIGURE_KINDS]}]}

    @model_validator(mode="before")
    @classmethod
    def _kind_alone(cls, value: Any) -> Any:
        return {"kind": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _axes_can_be_so(self) -> Self:
        if self.kind == "selections" and (given := self.model_fields_set - {"kind"}):
            raise ValueError(f"{min(given)} does not apply: maps of users and rounds have axes of their own")
        if self.window and self.kind not in ("accuracy_vs_time", "loss_vs_time"):
            raise ValueError("window does not apply: only accuracies and losses are smoothed")
        for axis in "xy":
            limits, log = getattr(self, f"{axis}_limits"), getattr(self, f"{axis}_scale") == "log"
            if limits is not None and not limits[0] < limits[1]:
                raise ValueError(f"{axis}_limits = {list(limits)} must begin below where they end")
            if limits is not None and log and limits[0] <= 0:
                raise ValueError(f"{axis}_limits = {list(limits)} must be above 0 on a logarithmic axis")
        return self

    @model_serializer
    def _shortly(self) -> str | dict[str, Any]:
        given = {key: value for key, value in self if value is not None}
        return self.kind if given.keys() == {"kind"} else given
