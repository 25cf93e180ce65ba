#include "read/memory_report_reader.h"

#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

struct Read {
  Evidence facts;
  std::vector<Allocation> rows;
  bool done = false;
  double Number(const std::string& name) const {
    INFO(name);
    REQUIRE(facts.Find(name) != nullptr);
    return AsNumber(facts.Find(name)->value).value();
  }
};

Read ReadReport(const std::vector<std::string>& lines) {
  MemoryReportReader reader("hbm");
  std::uint64_t number = 0;
  for (const std::string& text : lines) {
    Line line;
    line.number = ++number;
    line.text = text;
    reader.Feed(line);
  }
  Read read;
  read.done = reader.done();
  reader.Finish(&read.facts, &read.rows);
  return read;
}

const std::vector<std::string> kReport = {
    "Total hbm usage >= 23.14G:",
    "    reserved        258.00M ",
    "    program          22.89G ",
    "    arguments            0B ",
    "",
    "Output size 1.00G; shares 512.00M with arguments.",
    "",
    "Program hbm requirement 22.89G:",
    "    global          128.00M",
    "    HLO temp         22.76G (2.7% utilization: Unpadded (640.83M) Padded (22.75G), 0.1% fragmentation (12.00M))",
    "",
    "  Largest program allocations in hbm:",
    "",
    "  1. Size: 11.44G",
    "     Operator: op_type=\"copy\" op_name=\"jit(step)/pts\" source_file=\"/home/user/t.py\" source_line=19 "
    "source_end_line=19",
    "     Shape: f32[11999232,4,2]{1,2,0:T(2,128)}",
    "     Unpadded size: 366.19M",
    "     Extra memory due to padding: 11.08G (32.0x expansion)",
    "     XLA label: copy.1 = copy(param), sharding={replicated}",
    "     Allocation type: HLO temp",
    "     ==========================",
    "",
    "  2. Size: 512B",
    "     Shape: (f32[16,16]{1,0:T(8,128)}, u32[]{:T(128)S(2)})",
    "     Unpadded size: 512B",
    "     Tag: pointer pack",
    "     Allocation type: scoped",
    "     ==========================",
};

void CheckReport(const Read& read) {
  CHECK(read.Number("system_reserved_bytes") == 258.0 * (1 << 20));
  CHECK(read.Number("program_bytes") == 24577950351.0);
  CHECK(read.Number("arguments_bytes") == 0);
  CHECK(read.Number("output_bytes") == 1073741824.0);
  CHECK(read.Number("shared_output_bytes") == 536870912.0);
  CHECK(read.Number("global_bytes") == 134217728.0);
  CHECK(read.Number("hlo_temp_unpadded_bytes") == 671958958.0);
  CHECK(read.Number("fragmentation_bytes") == 12582912.0);
  CHECK(read.Number("listed") == 2);
  REQUIRE(read.rows.size() == 2);
  const Allocation& first = read.rows[0];
  CHECK(first.rank == 1);
  CHECK(first.size_bytes == 12283606467);
  CHECK(first.padding_factor == 32.0);
  CHECK(first.op_name == "jit(step)/pts");
  CHECK(first.source_file == "/home/user/t.py");
  CHECK(first.source_line == 19);
  CHECK(first.array->shape == "f32[11999232,4,2]");
  CHECK(first.xla_label == "copy.1 = copy(param), sharding={replicated}");
  CHECK(first.kind == "HLO temp");
  CHECK(read.rows[1].tag == "pointer pack");
  CHECK(read.rows[1].kind == "scoped");
  CHECK_FALSE(read.rows[1].array);
}

TEST_CASE("a complete report is read", "[read]") {
  const Read read = ReadReport(kReport);
  CheckReport(read);
  CHECK(read.rows[0].place.line == 14);
  CHECK(read.facts.Find("program_bytes")->place.line == 3);
}

TEST_CASE("other output between the lines changes nothing", "[read]") {
  std::vector<std::string> noisy;
  for (const std::string& line : kReport) {
    noisy.push_back(line);
    noisy.push_back("step=12 loss=2.31 tokens/s=8123.4");
    noisy.push_back("saved checkpoint 3 in 3.20s, HBM in use 12.1G of 15.7G");
  }
  CheckReport(ReadReport(noisy));
}

TEST_CASE("a report flattened into one line is read", "[read]") {
  std::string flat;
  for (const std::string& line : kReport) flat += line + " ";
  CheckReport(ReadReport({flat}));
}

TEST_CASE("lost line breaks do not hide a label", "[read]") {
  const Read read = ReadReport(
      {"Total hbm usage >= 20.25G:", "    reserved 258.00M", "    program 20.00G",
       "    arguments 0BOutput size 64.00M; shares 0B with arguments.Program hbm requirement 20.00G:",
       "    HLO temp 20.00G (100.0% utilization: Unpadded (20.00G) Padded (20.00G), 0.0% fragmentation (0B))"});
  CHECK(read.Number("arguments_bytes") == 0);
  CHECK(read.Number("output_bytes") == 67108864);
  CHECK(read.Number("program_hbm_bytes") == 20.0 * (1 << 30));
}

TEST_CASE("the row of the temporaries may be wrapped anywhere after its size", "[read]") {
  const std::string row =
      "    HLO temp         22.76G (2.7% utilization: Unpadded (640.83M) Padded (22.75G), 0.1% fragmentation (12.00M))";
  for (std::size_t cut = row.find('(') + 1; cut < row.size(); ++cut) {
    CAPTURE(row.substr(0, cut));
    const Read read = ReadReport({"Total hbm usage >= 23.14G:", "Program hbm requirement 22.89G:", row.substr(0, cut),
                                  row.substr(cut), "", "  Largest program allocations in hbm:"});
    CHECK(read.Number("utilization_percent") == 2.7);
    CHECK(read.Number("hlo_temp_unpadded_bytes") == 671958958.0);
    CHECK(read.Number("hlo_temp_padded_bytes") == 24427626496.0);
    CHECK(read.Number("fragmentation_bytes") == 12582912.0);
  }
}

TEST_CASE("wrapped values continue in the next line", "[read]") {
  const Read read =
      ReadReport({"Largest program allocations in hbm:", "1. Size: 2.00G", "Operator: op_name=\"jit(f)/jvp(layer)/very",
                  "long name\" source_file=\"a.py\" source_line=7", "Shape: f32[512,1024,", "1024]{2,1,0:T(8,128)}",
                  "XLA label: fusion.1 = fusion(param.1,", "param.2), kind=kLoop", "Allocation type: HLO temp"});
  REQUIRE_FALSE(read.rows.empty());
  CHECK(read.rows[0].op_name == "jit(f)/jvp(layer)/very long name");
  CHECK(read.rows[0].source_line == 7);
  CHECK(read.rows[0].array->shape == "f32[512,1024,1024]");
  CHECK(read.rows[0].xla_label == "fusion.1 = fusion(param.1, param.2), kind=kLoop");
}

TEST_CASE("unnumbered, escaped and truncated lists are read", "[read]") {
  const Read read =
      ReadReport({"Largest program allocations in hbm:", "Size: 2.32G", "Shape: bf16[8,128]{1,0:T(8,128)(2,1)}",
                  "1\\. Size: 2.00G", "Allocation type: HLO temp", "3. Size: 1.00G", "Operator: op_name=\"jit(f)/cut"});
  REQUIRE(read.rows.size() == 3);
  CHECK(read.rows[1].kind == "HLO temp");
  CHECK(read.rows[2].op_name == "jit(f)/cut");
  const Read cut =
      ReadReport({"Largest program allocations in hbm:", "1. Size: 1.00G", "Operator: op_name=\"jit(f)/cut\\"});
  REQUIRE(cut.rows.size() == 1);
  CHECK(cut.rows[0].op_name == "jit(f)/cut");  // the rest of the escape is missing
  CHECK(ReadReport({"Largest program allocations in hbm:"}).Number("listed") == 0);
  CHECK(ReadReport({"Total hbm usage >= 2.00G:"}).facts.Find("listed") == nullptr);
}

TEST_CASE("an incomplete size is unknown, and its row is kept", "[read]") {
  for (const char* size : {"11.44", "11.44X", "11.44G/s", "11.44.1G", "-1.00G", "unknown size", ""}) {
    INFO(size);
    const Read read = ReadReport({"  Largest program allocations in hbm:", std::string("  1. Size: ") + size,
                                  "     Shape: f32[2]{0}", "  2. Size: 512B", "     Shape: f32[128]{0}"});
    REQUIRE(read.rows.size() == 2);
    CHECK_FALSE(read.rows[0].size_bytes);
    CHECK(read.rows[0].shape_text == "f32[2]{0}");
    CHECK(read.rows[1].rank == 2);
    CHECK(read.rows[1].size_bytes == 512);
  }
  for (const char* size : {"512B", "512", "0.5K", "512B.", "512B (a half)", "512 bytes"}) {
    INFO(size);
    CHECK(ReadReport({std::string("  1. Size: ") + size}).rows.at(0).size_bytes == 512);
  }
  CHECK_FALSE(ReadReport({"Total hbm usage >= 23.14:"}).facts.Find("total_bytes"));
}

TEST_CASE("figures of other memory spaces do not count", "[read]") {
  const Read read =
      ReadReport({"Total hbm usage >= 1.00G:", "    program 1.00G", "Total host usage >= 5.00G:", "    program 5.00G",
                  "    arguments 4.00G", "Program vmem requirement 29.95M:", "    scoped 29.95M"});
  CHECK(read.Number("program_bytes") == 1073741824.0);
  CHECK(read.facts.Find("arguments_bytes") == nullptr);
  CHECK(read.facts.Find("scoped_bytes") == nullptr);
}

TEST_CASE("interleaved reports are not read", "[read]") {
  std::vector<std::string> mixed;
  for (const std::string& line : kReport) mixed.insert(mixed.end(), {line, line});
  const Read read = ReadReport(mixed);
  CHECK(read.rows.empty());
  CHECK(read.facts.all().size() == 1);
  CHECK(read.facts.Find("lines_mixed") != nullptr);
  // The rows alone: their numbers do not increase.
  std::vector<std::string> rows = kReport;
  rows.insert(rows.end(), {"  2. Size: 10.00G"});
  CHECK(ReadReport(rows).facts.Find("lines_mixed") != nullptr);
  // A list of arguments has its own numbers.
  rows.back() = "  Largest program arguments and outputs in hbm:";
  rows.insert(rows.end(), {"  1. Size: 10.00G", "     Shape: f32[16]{0}"});
  CHECK(ReadReport(rows).facts.Find("lines_mixed") == nullptr);
}

TEST_CASE("a second report ends the first", "[read]") {
  std::vector<std::string> twice = kReport;
  for (const std::string& line : kReport) twice.push_back(line);
  const Read read = ReadReport(twice);
  CHECK(read.done);
  CHECK(read.rows.size() == 2);
}

TEST_CASE("reading ends after many other lines", "[read]") {
  std::vector<std::string> lines = kReport;
  lines.insert(lines.end(), 200, "nothing to see");
  const Read read = ReadReport(lines);
  CHECK(read.done);
  CheckReport(read);
}

TEST_CASE("the list of another memory space is skipped", "[read]") {
  const std::vector<std::string> report = {"Total hbm usage >= 9.00G:",
                                           "Program hbm requirement 8.00G:",
                                           "  Largest program allocations in hbm:",
                                           "  1. Size: 6.00G",
                                           "  Program vmem requirement 20.00M:",
                                           "    scoped 16.00M",
                                           "  Largest program allocations in vmem:",
                                           "  1. Size: 16.00M",
                                           "     Shape: f32[4194304]{0}"};
  const Read read = ReadReport(report);
  REQUIRE_FALSE(read.rows.empty());
  CHECK(read.rows[0].size_bytes == std::int64_t{6} << 30);
  CHECK(read.rows[0].shape_text.empty());
  CHECK(read.facts.Find("scoped_bytes") == nullptr);

  MemoryReportReader vmem("vmem");
  for (const std::string& text : report) {
    Line line;
    line.text = text;
    vmem.Feed(line);
  }
  Read other;
  vmem.Finish(&other.facts, &other.rows);
  REQUIRE(other.rows.size() == 1);
  CHECK(other.rows[0].shape_text == "f32[4194304]{0}");
  CHECK(other.Number("program_space_bytes") == 20 << 20);
  CHECK(other.Number("scoped_bytes") == 16 << 20);
  CHECK(other.facts.Find("total_bytes") == nullptr);
}

TEST_CASE("the buffers that a GPU compiler lists are rows", "[read]") {
  const Read read =
      ReadReport({"Peak buffers:", "\tBuffer 1:", "\t\tSize: 1.50GiB",
                  "\t\tOperator: op_name=\"jit(step)/dot\" source_file=\"a.py\" source_line=3", "\t\tXLA Label: fusion",
                  "\t\tShape: f32[402653184]", "\t\t==========================", "", "\tBuffer 2:", "\t\tSize: 512B",
                  "\t\tEntry Parameter Subshape: f32[128]", "\t\t=========================="});
  REQUIRE(read.rows.size() == 2);
  CHECK(read.rows[0].size_bytes == std::int64_t{3} << 29);
  CHECK(read.rows[0].xla_label == "fusion");
  CHECK(read.rows[0].op_name == "jit(step)/dot");
  CHECK(read.rows[0].kind.empty());
  CHECK(read.rows[1].shape_text == "f32[128]");
  CHECK(read.rows[1].kind == "parameter");
}

TEST_CASE("text in parentheses after a label may be long and not ASCII", "[read]") {
  std::string long_name;
  for (int i = 0; i < 60; ++i) long_name += "\xC3\xA9";
  std::vector<std::string> lines = kReport;
  lines[1] = "    reserved(" + long_name + ")        258.00M ";
  CHECK(ReadReport(lines).Number("system_reserved_bytes") == ReadReport(kReport).Number("system_reserved_bytes"));
}

TEST_CASE("a value that is too long is not cut inside a character", "[read]") {
  for (const std::string lead : {"", "x"}) {
    std::string label = lead;
    while (label.size() < 5000) label += "\xC3\xA9";
    std::vector<std::string> lines = kReport;
    lines[18] = "     XLA label: " + label;
    const Read read = ReadReport(lines);
    REQUIRE_FALSE(read.rows.empty());
    const std::string& kept = read.rows.front().xla_label;
    CHECK(kept.size() > 4000);
    CHECK(kept.size() < 5000);
    CHECK(kept.ends_with("\xC3\xA9…"));
  }
}

}  // namespace TEST_FILE
