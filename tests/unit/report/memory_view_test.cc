#include <string>
#include <vector>

#include "catch.h"
#include "made_report.h"
#include "report/printers.h"
#include "report/record/describe.h"
#include "report/report_document.h"
#include "text/utf8.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

ProgramEstimates MadeProspects(const std::string& module) {
  ProgramEstimates estimates;
  estimates.memory = {{"activations", 6 * kGiB, {{module, 5 * kGiB}, {"decoder/attention", kGiB}}},
                      {"optimizer_state", 3 * kGiB, {}},
                      {"weights", kGiB, {}},
                      {"constants", 1000, {}}};
  for (int i = 0; i < 64; ++i) estimates.timeline.push_back({i / 64.0, (i == 32 ? 10 : 4) * kGiB});
  estimates.room = {64, 24, 3, 4096, 1024};
  return estimates;
}

CompiledProgram MadeProgram(const std::string& name, const std::string& module) {
  CompiledProgram program;
  program.basis = "dump";
  program.where = {{name, ""}, 1, 1, 0};
  program.facts.Set("module", name, {});
  program.facts.Set("need_bytes", 10.0 * kGiB, {});
  program.facts.Set("limit_bytes", 15.75 * kGiB, {});
  program.estimates = MadeProspects(module);
  Identify(&program);
  return program;
}

void CheckWidth(const std::string& page, std::size_t width) {
  for (std::size_t begin = 0; begin < page.size(); begin = page.find('\n', begin) + 1) {
    const std::string line = page.substr(begin, page.find('\n', begin) - begin);
    INFO(line);
    CHECK(DisplayWidth(line) <= width);
    if (page.find('\n', begin) == std::string::npos) break;
  }
}

bool Holds(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

TEST_CASE("memory shares have names and fractions of the whole", "[report]") {
  const doc::Table table = KindsTable(MadeProspects("decoder/mlp"));
  REQUIRE(table.rows.size() == 3);  // a kilobyte is too small for a line
  CHECK(doc::PlainText(doc::Joined(table.rows[0], "|")) ==
        "6.00 GiB|60 %|activations|decoder/mlp 5.00 GiB, decoder/attention 1.00 GiB");
  CHECK(doc::PlainText(table.rows[1][2]) == "optimizer state");
}

std::string FitText(const Room& room) {
  doc::Blocks blocks;
  AddRoom(room, &blocks);
  return PrintBlocks(blocks, {});
}

TEST_CASE("sizes that fit are sentences, and unknown sizes are omitted", "[report]") {
  CHECK(FitText({64, 24, 3, 4096, 1024}) ==
        "fits  batch about 24 (now 64) · 3 micro-batches · sequence about 1024 (now 4096)\n");
  CHECK(FitText({64, 64, 1, 0, 0}) == "fits  batch 64, the current size\n");
  CHECK(FitText({64, 16, 0, 0, 0, 4, AxisLocation{"batch['x']", 0, 64, "batch"}, {}}) ==
        "fits  batch about 16 (now 64) over 4 devices\n");
  CHECK(FitText({400000, 341232, 0, 0, 0, 1, AxisLocation{"points", 0, 400000, ""}, {}}) ==
        "fits  axis 0 of points: about 341200 (now 400000)\n");
  CHECK(FitText({}).empty());
  CHECK(FitText({64, 0, 0, 0, 0}).empty());
}

TEST_CASE("a diagnosis shows memory and fitting sizes in every format for people", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  failure.estimates = MadeProspects("decoder/mlp");
  const Report report = MadeReport({failure});
  for (const std::size_t width : {80, 120}) {
    const std::string text = PrintText(report, {.width = width});
    CHECK(Holds(text, "peak  activations 6.00 GiB (60 %) · optimizer state "));
    CHECK(Holds(text, "fits  batch about 24 (now 64)"));
    CheckWidth(text, width);
    const std::string all = PrintText(report, {.width = width, .detail = Detail::kAll});
    CHECK(Holds(all, "6.00 GiB   60 %  activations      decoder/mlp 5.00 GiB"));
  }
  const std::string markdown = PrintMarkdown(report);
  CHECK(Holds(markdown, "| 6.00 GiB | 60 % | activations |"));
  CHECK(Holds(markdown, "· sequence about 1024 (now 4096)"));
  const std::string html = PrintHtml(report);
  CHECK(Holds(html, "\"module\":\"decoder/mlp\",\"bytes\":5368709120"));
  CHECK(Holds(html, "batch about 24 (now 64)"));
}

TEST_CASE("programs are separate from failures", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({MadeFailure(rule)});
  report.programs = {MadeProgram("jit_eval", "decoder")};
  const std::string text = PrintText(report, {});
  CHECK(text.find("Programs that fit") > text.find("too large"));
  CHECK(Holds(text, "It needs 10.00 GiB of 15.75 GiB (63 %); 5.75 GiB is free"));
  CHECK(Holds(PrintMarkdown(report), "Programs that fit"));
  CHECK(Holds(PrintHtml(report), "Programs that fit"));
  report.failures.clear();
  CHECK(Holds(PrintText(report, {}), "No out-of-memory error found"));
  CHECK(Holds(PrintMarkdown(report), "No out-of-memory error found"));
}

TEST_CASE("many programs are bounded in every format", "[report]") {
  Report report = MadeReport({});
  for (int i = 0; i < 100; ++i) report.programs.push_back(MadeProgram("jit_" + std::to_string(i), "m"));
  report.programs_left_out = 7;
  const std::string text = PrintText(report, {});
  CHECK(Holds(text, "and 102 more"));
  CHECK(text.size() < 20000);
  CheckWidth(text, 80);
  CHECK(Holds(PrintMarkdown(report), "and 102 more"));
}

TEST_CASE("hostile names of programs are plain text", "[report][hostile]") {
  Report report = MadeReport({});
  report.programs = {MadeProgram(kHostileText, kHostileText)};
  const std::string text = PrintText(report, {});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(!Holds(text, "\n::"));
  const std::string html = PrintHtml(report);
  CHECK(!Holds(html, "<!--&amp;'"));
  CHECK(html.find('\x1b') == std::string::npos);
  const std::string markdown = PrintMarkdown(report);
  CHECK(markdown.find('\x1b') == std::string::npos);
  CHECK(!Holds(markdown, "\n::"));
}

TEST_CASE("a moment is not rounded, so that it compares with the begin of a live array", "[report]") {
  CompiledProgram program = MadeProgram("jit_eval", "decoder");
  program.estimates->timeline[1].at = 1667.0 / 4069;
  CHECK(ToRecord(program)["timeline"][1]["at"] == 1667.0 / 4069);
}

TEST_CASE("a program is read back as it was printed", "[report][ndjson]") {
  const CompiledProgram program = MadeProgram("jit_eval", "decoder");
  const nlohmann::json json = nlohmann::json::parse(ToRecord(program).dump());
  const std::optional<CompiledProgram> back = FromRecord<CompiledProgram>(json);
  REQUIRE(back);
  CHECK(ToRecord(*back) == ToRecord(program));
  nlohmann::json damaged = json;
  damaged["memory"][0]["bytes"] = "many";
  CHECK(!FromRecord<CompiledProgram>(damaged));
  damaged = json;
  damaged["timeline"][0].erase("at");
  CHECK(!FromRecord<CompiledProgram>(damaged));
  damaged = json;
  damaged["basis"] = "rumour";
  CHECK(!FromRecord<CompiledProgram>(damaged));
}

}  // namespace TEST_FILE
