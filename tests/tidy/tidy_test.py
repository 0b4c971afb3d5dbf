#!/usr/bin/env python3
"""Samples that the house rules must catch, and samples that they must let pass."""

import sys
import tempfile
import unittest
from pathlib import Path

import commands
import coroutines
import tidy


class Coroutines(unittest.TestCase):
    CAUGHT = {
        "brace initialiser": [
            "co_await f(Agg{1, x});",
            "auto r = co_await f({.name = x});",
            "Agg a{.x = co_await g()};",
            "Agg a = {co_await g()};",
            "plain(Agg{1}, co_await g());",
            "auto a = std::array{co_await g(), co_await g()};",
            "if (auto r = co_await f(Options{}); r) { use(r); }",
            "co_return Reply{co_await g()};",
            "co_await f(std::vector<int>{1, 2});",
            "x = co_await f(a, b, std::pair<A, B>{a, b});",
            "for (auto x : co_await f(Agg{})) { use(x); }",
            "while (co_await next(Cursor{3})) {}",
            "switch (co_await f(Agg{1})) { case 1: break; }",
        ],
        "capturing lambda": [
            "co_await call([t] { return t; });",
            "co_await call([t = std::move(t)]() mutable -> Task<void> { co_return; });",
            "co_await [t]() -> Task<int> { co_return t; }();",
            "auto r = co_await co_spawn(ex, [&t]() -> Task<void> { co_await t.run(); }, use_awaitable);",
            "co_await call([this](int x) noexcept { return x; });",
            "co_await call([t]<typename T>(T x) { return x; });",
        ],
        "?:": [
            "auto r = b ? co_await f() : T();",
            'co_await f(b ? s + "x" : std::string("y"));',
            "co_return ok ? co_await f() : co_await g();",
        ],
    }
    PASSES = [
        "Agg a{1}; co_await f(std::move(a));",
        "auto w = f(Agg{1}); co_await std::move(w);",
        "co_await call([] { return 1; });",
        "co_return Agg{1};",
        "auto x = b ? one : two; co_await f(x);",
        "if (auto r = co_await f(); !r) { return Agg{1}; }",
        "if (ready) { co_await f(); } else { Agg a{2}; use(a ? 1 : 2); }",
        "for (int i{0}; i < 3; ++i) { co_await f(i); }",
        "while (true) { auto [a, b] = co_await f(); use(Agg{a}); }",
        "co_spawn(ex, [t]() -> Task<void> { co_await t->run(); }, detached);",
        "auto task = [](Agg a) -> Task<int> { auto r = co_await f(a); co_return r; };",
        '// co_await f(Agg{1});\nauto s = "co_await f(Agg{1})"; auto r = R"(co_await f(A{}))";',
        "switch (k) { case 1: { co_await f(); break; } default: { co_await g(); } }",
        "try { co_await f(); } catch (const E& e) { use(Agg{1}); }",
        "auto c = 'x'; int n = 1'000'000; co_await f(c, n);",
        "do { co_await f(); } while (x ? y : z);",
        "auto& item = items[co_await f()]; item = Agg{1};",
    ]

    def findings(self, body):
        return coroutines.findings_of("Task<void> run() {\n" + body + "\n}\n")

    def test_catches_each_bad_statement(self):
        for kind, samples in self.CAUGHT.items():
            for sample in samples:
                with self.subTest(sample):
                    self.assertIn(kind, [finding.what for finding in self.findings(sample)])

    def test_lets_plain_statements_pass(self):
        for sample in self.PASSES:
            with self.subTest(sample):
                self.assertEqual([], self.findings(sample))

    def test_knows_bodies_from_initialisers(self):
        for head in [
            "Task<Result<int>> Store::read(Id id) const {",
            "auto read(Id id) -> Task<int> {",
            "auto read(Id id) && noexcept -> std::vector<int> {",
            "Store::Store(Pool* pool) : pool_{pool}, limit_(3) {",
            "struct Reader final : public Base<int> { Task<void> run() {",
            'extern "C" {  void f() {',
            "namespace assay::store { Task<void> run() {",
        ]:
            with self.subTest(head):
                self.assertEqual([], coroutines.findings_of(head + " auto r = co_await f(); use(Agg{r});" + "}" * head.count("{")))

    def test_a_lambdas_own_statements_are_checked(self):
        self.assertEqual(1, len(self.findings("spawn([] { return 1; }); auto t = [] () -> Task<void> { co_await f(Agg{1}); };")))

    def test_reports_the_line(self):
        self.assertEqual([3], [finding.line for finding in self.findings("int x = 1;\nco_await f(Agg{x});")])

    def test_macros_that_hide_an_await_count(self):
        source = "#define CO_TRY(x, e) \\\n  auto x##_ = co_await (e); \\\n  if (!x##_) co_return x##_\n"
        names = coroutines.awaiting_macros([source])
        self.assertIn("CO_TRY", names)
        self.assertEqual(1, len(coroutines.findings_of("void f() { CO_TRY(x, g(Agg{1})); }", names)))


class Rules(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.write("src/json/README.md", "# json\n")
        self.write("src/store/README.md", "# store\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def rules(self):
        return [breach.split("[")[1].split("]")[0] for breach in tidy.check(self.root)]

    def expect(self, rule, name, text):
        self.write(name, text)
        self.assertEqual([rule], self.rules())

    def test_a_clean_tree_passes(self):
        self.write("src/json/scanner.h", '#include "base/result.h"\n')
        self.write("src/json/scanner.cc", '#include "json/scanner.h"\n\n#include <string>\n')
        self.write("src/json/scanner_test.cc", '#include "json/scanner.h"\n')
        self.write("src/store/pool.cc", '#include <libpq-fe.h>\n#include "chat/state.h"\nauto q = "SELECT 1 FROM chats";\n')
        self.write("src/store/pool_pgtest.cc", "\n")
        self.assertEqual([], self.rules())

    def test_direction(self):
        self.expect("direction", "src/json/scanner.h", '#include "schema/program.h"\n')

    def test_direction_of_tests(self):
        self.expect("direction", "src/json/scanner_test.cc", '#include "store/pool.h"\n')

    def test_only_the_providers_client_uses_the_network(self):
        self.write("src/providers/README.md", "# providers\nclient.cc is tested by the whole-process tests.\n")
        self.write("src/providers/client.cc", '#include "net/http.h"\n')
        self.assertEqual([], self.rules())
        self.write("src/providers/openai_chat_test.cc", "\n")
        self.expect("direction", "src/providers/openai_chat.cc", '#include "net/http.h"\n')

    def test_pure_rooms_include_no_framework(self):
        for header in ("boost/asio.hpp", "libpq-fe.h", "curl/curl.h", "thread", "fstream"):
            with self.subTest(header):
                self.expect("pure", "src/json/scanner.h", f"#include <{header}>\n")

    def test_pure_rooms_read_no_clock(self):
        self.expect("pure", "src/json/scanner.h", "auto t = std::chrono::steady_clock::now();\n")

    def test_own_header_first(self):
        self.write("src/json/scanner.h", "\n")
        self.write("src/json/scanner_test.cc", "\n")
        self.expect("own-header", "src/json/scanner.cc", '#include <string>\n#include "json/scanner.h"\n')

    def test_each_source_has_a_test(self):
        self.expect("test", "src/json/scanner.cc", "\n")

    def test_a_readme_may_excuse_a_missing_test(self):
        self.write("src/json/scanner.cc", "\n")
        self.write("src/json/README.md", "# json\n`scanner.cc` is data: the suites cover it.\n")
        self.assertEqual([], self.rules())

    def test_readme(self):
        self.write("src/json/README.md", "x\n" * 61)
        self.write("src/schema/screen.h", "\n")
        self.assertEqual(["readme", "readme"], self.rules())

    def test_unknown_room(self):
        self.write("src/extras/README.md", "# extras\n")
        self.assertEqual(["room"], self.rules())

    def test_names(self):
        for name in ("src/json/utils.h", "scripts/common.sh", "docs/misc.md", "src/json/chat_manager.h", "src/json/a.hpp"):
            with self.subTest(name):
                self.write(name, "\n")
                self.assertEqual(["name"], self.rules())
                (self.root / name).unlink()
        self.write("src/json/utility.h", "\n")
        self.assertEqual([], self.rules())

    def test_sleep(self):
        for line in ("std::this_thread::sleep_for(1s);", "::usleep(10);", "sleep(1);"):
            with self.subTest(line):
                self.expect("sleep", "tests/restart_test.cc", f"void f() {{ {line} }}\n")

    def test_a_yield_is_no_sleep(self):
        self.write("tests/loop_test.cc", "Task<> f() { co_await sleep_for(Milliseconds(0)); }\n")
        self.assertEqual([], self.rules())
        self.expect("sleep", "tests/loop_test.cc", "Task<> f() { co_await sleep_for(Milliseconds(1)); }\n")

    def test_a_waiver_needs_a_reason(self):
        call = "std::this_thread::sleep_for(1ms);\n"
        self.expect("sleep", "tests/restart_test.cc", "// tidy: allow sleep\n" + call)
        self.write("tests/restart_test.cc", "// tidy: allow sleep because another process offers no signal\n" + call)
        self.assertEqual([], self.rules())

    def test_sql(self):
        self.write("src/api/README.md", "# api\n")
        for text in ("SELECT id FROM chats", "INSERT INTO chats VALUES ($1)", "delete from chats", "LISTEN owner"):
            with self.subTest(text):
                self.expect("sql", "src/api/routes.h", f'auto q = "{text}";\n')

    def test_english_is_no_sql(self):
        self.write("src/api/README.md", "# api\n")
        self.write("src/api/routes.h", 'auto q = "select a model first"; auto r = "Update the schema"; // SELECT 1 FROM x\n')
        self.assertEqual([], self.rules())

    def test_machine_paths_and_newlines(self):
        self.expect("path", "docs/setup.md", "cd /" + "work/main\n")
        self.expect("newline", "docs/setup.md", "no end")

    def test_documents_name_what_is_there(self):
        self.write("CMakePresets.json", '{"configurePresets": [{"name": "release"}]}\n')
        self.write("scripts/test", "\n")
        self.write("README.md", "[json](src/json/README.md#top) [out](https://example.org) `./scripts/test --preset release`\n")
        self.assertEqual([], self.rules())
        self.expect("document", "src/json/scanner.h", "// See docs/" + "absent.md.\n")
        (self.root / "src/json/scanner.h").unlink()
        for text in ("[page](src/absent.md)", "run `./scripts/absent`", "cmake --preset absent"):
            with self.subTest(text):
                self.expect("document", "README.md", text + "\n")

    def test_coroutines_in_the_tree(self):
        self.expect("coroutine", "src/store/pool.h", "Task<void> f() {\n  co_await g(Agg{1});\n}\n")
        self.expect("coroutine", "src/store/pool.h", "Task<void> f() {\n  co_await g(b ? x : y);  // tidy: allow coroutine\n}\n")
        self.write("src/store/pool.h", "// tidy: allow coroutine because the operands are ints\nauto x = co_await g(b ? 1 : 2);\n")
        self.assertEqual([], self.rules())


class Commands(unittest.TestCase):
    HELP = """#!/bin/sh
case "$*" in
  "ask --help") echo "--schema FILE --receipt" ;;
  "serve --help") echo "--address HOST:PORT --help" ;;
  *) exit 2 ;;
esac
"""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        (self.root / "docs").mkdir()
        self.binary = self.root / "assay"
        self.binary.write_text(self.HELP, encoding="utf-8")
        self.binary.chmod(0o755)

    def faults(self, readme, table="| `--address` | `ASSAY_ADDRESS` | x |\n"):
        (self.root / "README.md").write_text(readme, encoding="utf-8")
        (self.root / "CONTRIBUTING.md").write_text("", encoding="utf-8")
        (self.root / "docs/configuration.md").write_text(table, encoding="utf-8")
        # The sample's table is short on purpose; that it must not be is the one fault each sample has.
        return [fault for fault in commands.check(self.root, str(self.binary)) if "was not found" not in fault]

    def test_known_commands_pass(self):
        self.assertEqual([], self.faults("```sh\nKEY=x build/release/bin/assay ask --schema f \\\n  --receipt | cat --all\n```\n"))
        self.assertEqual([], self.faults("Run `assay ask --schema FILE`."))

    def test_an_unknown_flag_or_command_is_a_fault(self):
        self.assertEqual(1, len(self.faults("```sh\nassay ask --sceham f\n```\n")))
        self.assertEqual(1, len(self.faults("Run `assay answer --schema FILE`.")))

    def test_the_table_of_settings_is_the_one_of_help(self):
        self.assertEqual(2, len(self.faults("", "| `--port` | `ASSAY_PORT` | x |\n")))
        self.assertEqual(1, len(self.faults("", "| `--address` | `ASSAY_ADRESS` | x |\n")))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-q"])
