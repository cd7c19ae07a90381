"""The `agents=` and `tools=` filters, and the one spelling of a tool's name."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookspan.contract.contexts import InputContext, ToolCallHookContext
from hookspan.contract.errors import HookAborted
from hookspan.contract.points import InterceptionPoint
from hookspan.engine.api import dispatch, get_hooks, register_hook
from hookspan.engine.decorators import after_tool_call, before_tool_call, on
from hookspan.engine.hooks import ConfiguredHook
from hookspan.engine.tool_names import normalize_tool_name
from tests.engine.specimens import INPUT, noting

PRE_TOOL_CALL = InterceptionPoint.PRE_TOOL_CALL
ONE_TOOL = ["delete_file", "Delete File", "deleteFile", "DeleteFile", "delete-file", "Délete_file'"]


def agent(role: Any) -> Any:
    return SimpleNamespace(role=role)


def reached(log: list[str], ctx: Any, point: InterceptionPoint = PRE_TOOL_CALL) -> list[str]:
    """Dispatch; return which hooks got through their filters."""
    log.clear()
    dispatch(point, ctx)
    return list(log)


def test_the_guard_of_the_example_stops_this_tool_only() -> None:
    """'`@on(InterceptionPoint.PRE_TOOL_CALL, tools=["delete_file"])`'."""

    @on(PRE_TOOL_CALL, tools=["delete_file"])
    def guard_deletes(_ctx: Any) -> None:
        raise HookAborted(reason="file deletion is not allowed", source="policy")

    kept = ToolCallHookContext("read_file")
    assert dispatch(PRE_TOOL_CALL, kept) is kept
    with pytest.raises(HookAborted, match="file deletion is not allowed") as caught:
        dispatch(PRE_TOOL_CALL, ToolCallHookContext("delete_file"))
    assert caught.value.source == "policy"


@pytest.mark.parametrize("called", ONE_TOOL)
@pytest.mark.parametrize("written", ONE_TOOL)
def test_a_tool_filter_matches_in_any_spelling(log: list[str], written: str, called: str) -> None:
    on(PRE_TOOL_CALL, tools=["other", written])(noting(log, "hook"))

    assert reached(log, ToolCallHookContext(called)) == ["hook"]
    assert reached(log, ToolCallHookContext("delete_files")) == []


@pytest.mark.parametrize(
    ("ctx", "through"),
    [
        (InputContext({}, agent=agent("Editor")), True),
        (InputContext({}, agent=agent("Writer")), False),
        (InputContext({}, agent=agent("editor")), False),
        (InputContext({}, agent_role="Editor"), True),
        (InputContext({}, agent_role="Writer"), False),
        (InputContext({}, agent=agent(None), agent_role="Writer"), False),
        (InputContext({}, agent=agent("Editor"), agent_role="Writer"), True),
        (InputContext({}, agent=agent(None)), True),
        (InputContext({}), True),
        (object(), True),
    ],
)
def test_an_agent_filter_matches_the_role(log: list[str], ctx: Any, *, through: bool) -> None:
    """'including `agents=` / `tools=` filters'; a context that names no agent passes."""
    on(INPUT, agents=["Editor", "Chief"])(noting(log, "hook"))
    assert reached(log, ctx, INPUT) == (["hook"] if through else [])


@pytest.mark.parametrize("ctx", [InputContext({}), SimpleNamespace(tool_name=None), object()])
def test_a_context_without_a_tool_passes_a_tool_filter(log: list[str], ctx: Any) -> None:
    on(INPUT, tools=["search"])(noting(log, "hook"))
    assert reached(log, ctx, INPUT) == ["hook"]


@pytest.mark.parametrize("tool", ["search", "other"])
@pytest.mark.parametrize("role", ["Editor", "Writer"])
def test_both_filters_must_match(log: list[str], tool: str, role: str) -> None:
    on(PRE_TOOL_CALL, agents=["Editor"], tools=["search"])(noting(log, "hook"))
    through = reached(log, ToolCallHookContext(tool, agent=agent(role)))
    assert through == (["hook"] if (tool, role) == ("search", "Editor") else [])


def test_a_filter_is_read_once_and_may_be_any_iterable(log: list[str]) -> None:
    names = ["search"]
    on(PRE_TOOL_CALL, tools=(name for name in names))(noting(log, "generator"))
    on(PRE_TOOL_CALL, tools=names)(noting(log, "list"))
    names.append("other")

    assert reached(log, ToolCallHookContext("search")) == ["generator", "list"]
    assert reached(log, ToolCallHookContext("other")) == []


def test_stacked_decorators_with_different_filters_both_count(log: list[str]) -> None:
    hook = noting(log, "hook")
    on(PRE_TOOL_CALL, tools=["search"])(on(PRE_TOOL_CALL, agents=["Editor"])(hook))

    calls = [
        ToolCallHookContext("search", agent=agent("Writer")),
        ToolCallHookContext("other", agent=agent("Editor")),
        ToolCallHookContext("search", agent=agent("Editor")),
        ToolCallHookContext("other", agent=agent("Writer")),
    ]
    assert [len(reached(log, ctx)) for ctx in calls] == [1, 1, 2, 0]
    assert get_hooks(PRE_TOOL_CALL) == [hook, hook]


def test_stacked_points_register_at_both(log: list[str]) -> None:
    hook = noting(log, "hook")
    before_tool_call(after_tool_call(tools=["search"])(hook))
    assert get_hooks(PRE_TOOL_CALL) == get_hooks(InterceptionPoint.POST_TOOL_CALL) == [hook]


def test_a_configured_hook_stands_for_its_function(log: list[str]) -> None:
    hook, other = noting(log, "hook"), noting(log, "other")
    configured: Any = ConfiguredHook(hook, tools=frozenset({"search"}))

    assert (configured.__name__, configured.__module__) == (hook.__name__, hook.__module__)
    assert (configured == hook, hook == configured, configured == other) == (True, True, False)
    assert [other, configured].index(hook) == 1
    assert hash(configured) == hash(hook)


def test_a_filter_that_crashes_crashes_its_hook_only(log: list[str]) -> None:
    on(PRE_TOOL_CALL, tools=["search"])(noting(log, "filtered"))
    register_hook(PRE_TOOL_CALL, noting(log, "next"))
    assert reached(log, SimpleNamespace(tool_name=3)) == ["next"]


@given(st.text(max_size=200) | st.text(alphabet="aB1_ '\"-é", max_size=200))
@example("")
@example("A" * 64)
@example("A" * 65)
@example("_" * 100)
@example("x" * 54 + "_" + "y" * 40)
def test_a_normal_name_is_short_plain_and_its_own_normal_name(name: str) -> None:
    normal = normalize_tool_name(name)

    assert re.fullmatch(r"([a-z0-9]+(_[a-z0-9]+)*)?", normal)
    assert len(normal) <= 64
    assert normalize_tool_name(normal) == normal


@given(st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=1, max_size=6))
def test_words_are_found_in_every_spelling(words: list[str]) -> None:
    title = [word.title() for word in words]
    camel = words[0] + "".join(title[1:])
    spellings = ["_".join(words), "-".join(words), " ".join(title), "".join(title), camel]
    assert {normalize_tool_name(name) for name in spellings} == {"_".join(words)}


def test_long_names_that_differ_at_the_end_stay_apart() -> None:
    names = {normalize_tool_name("tool" * 20 + end) for end in ("", "a", "b")}
    assert [len(name) for name in names] == [64, 64, 64]
    assert len(names) == 3


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        ("HTTPServer", "http_server"),
        ("getURL2Page", "get_url2page"),
        ('it\'s "quoted"', "its_quoted"),
        ("  Über  Tool!! ", "uber_tool"),
        ("x" * 64, "x" * 64),
        ("x" * 65, "x" * 55 + "_9537c5fd"),
    ],
)
def test_a_name_is_spelled_as_crewai_spells_it(name: str, normal: str) -> None:
    assert normalize_tool_name(name) == normal
