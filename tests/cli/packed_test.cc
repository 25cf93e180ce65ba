// Compressed and archived input: options, exit status, and the location of a failure.
#include "unit/input/packed.h"

#include <locale.h>

#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "process.h"

using nlohmann::json;
using whyoom::Archive;
using whyoom::Compress;

namespace TEST_FILE {

const std::string kFailure =
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There "
    "are 6.43M free.; (0x0x1_HBM0)\n";

json Report(const std::vector<std::string>& arguments, const std::string& input = "") {
  std::vector<std::string> all = {"--format", "json"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return json::parse(RunWhyoom(all, input).out);
}

TEST_CASE("a compressed log has the same diagnosis as the log", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = "all is well\n" + kFailure;
  const json plain = Report({"-"}, log)["diagnoses"];
  REQUIRE(plain.size() == 1);
  for (const std::string filter : {"gzip", "zstd", "xz", "bzip2", "lz4"}) {
    INFO(filter);
    CHECK(Report({"-"}, Compress(filter, log))["diagnoses"] == plain);
  }
  for (const std::string format : {"ustar", "zip"}) {
    INFO(format);
    const std::string packed = Archive(format, {{"setup.log", "fine\n"}, {"job/worker.log", log}});
    const std::string path = scratch.Write("logs", packed);
    for (const json& report : {Report({path}), Report({"-"}, packed)}) {
      REQUIRE(report["diagnoses"].size() == 1);
      json found = report["diagnoses"][0];
      CHECK(found["where"]["member"] == "job/worker.log");
      CHECK(report["summary"]["artifacts"] == 2);
      found["where"] = plain[0]["where"];
      CHECK(found == plain[0]);
    }
    CHECK(RunWhyoom({path}).out.find(path + " › job/worker.log:2") != std::string::npos);
  }
}

TEST_CASE("an input that reaches a limit yields a problem and status 3", "[cli]") {
  const ScratchFolder scratch;
  const std::string packed = scratch.Write("a.gz", Compress("gzip", std::string(100'000, 'x') + "\n" + kFailure));
  CHECK(RunWhyoom({packed}).exit_status == 1);
  CHECK(RunWhyoom({"--max-bytes", "64K", packed}).exit_status == 3);
  const json problems = Report({"--max-bytes", "64K", packed})["summary"]["problems"];
  REQUIRE(problems.size() == 1);
  CHECK(problems[0]["path"] == packed);
  CHECK(problems[0]["what"] == "stopped after 64 KiB unpacked (--max-bytes); the rest was not read");
  CHECK(RunWhyoom({"--max-bytes", "1M", packed}).exit_status == 1);
  const std::string archive = scratch.Write("a.tar", Archive("ustar", {{"a", "fine\n"}, {"b", kFailure}}));
  CHECK(RunWhyoom({"--max-time", "0.000001", archive}).exit_status == 3);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--max-bytes", "many"}, {"--max-bytes", "-1"}, {"--max-time", "-1"}}) {
    INFO(wrong[0] << " " << wrong[1]);
    CHECK(RunWhyoom({wrong[0], wrong[1], archive}).exit_status == 2);
  }
}

TEST_CASE("a 7z archive yields a problem and status 3", "[cli]") {
  const ScratchFolder scratch;
  const std::string packed = scratch.Write("logs.7z", Archive("7zip", {{"a.log", kFailure}}));
  const std::string log = scratch.Write("a.log", kFailure);
  CHECK(RunWhyoom({packed}).exit_status == 3);
  const json report = Report({packed, log});
  CHECK(report["diagnoses"].size() == 1);
  REQUIRE(report["summary"]["problems"].size() == 1);
  CHECK(report["summary"]["problems"][0]["what"] == "7z archives are not supported; unpack it first");
}

TEST_CASE("diff reads compressed logs with the same limits", "[cli]") {
  const ScratchFolder scratch;
  const std::string packed = scratch.Write("a.zst", Compress("zstd", kFailure));
  const std::string plain = scratch.Write("b.log", kFailure);
  CHECK(RunWhyoom({"diff", packed, plain}).exit_status == 1);
  CHECK(RunWhyoom({"diff", "--max-bytes", "1", packed, plain}).exit_status == 3);
}

TEST_CASE("member names cannot control the terminal", "[cli]") {
  const std::string tar =
      Archive("gnutar", {{"a\x1b[2Jb.log", kFailure}, {"c\x1b[2J.gz", Compress("gzip", "x").substr(0, 15)}});
  const ProcessResult result = RunWhyoom({"-"}, tar);
  CHECK(result.exit_status == 3);
  CHECK(result.out.find('\x1b') == std::string::npos);
}

TEST_CASE("member names in any script are printed", "[cli]") {
  const ScratchFolder scratch;
  for (const char* format : {"gnutar", "zip"}) {
    CAPTURE(format);
    // libarchive writes such names only in a suitable locale; whyoom must read them in any.
    const locale_t before = uselocale(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr));
    const std::string packed = Archive(format, {{"größe/日本.log", kFailure}});
    freelocale(uselocale(before));
    CHECK(RunWhyoom({scratch.Write("packed", packed)}).out.find("größe/日本.log") != std::string::npos);
  }
}

TEST_CASE("offsets in UTF-16 count the text as UTF-8", "[cli]") {
  std::string raw = "\xff\xfe";
  for (const char letter : "caf\xe9\n" + kFailure) raw += std::string{letter, '\0'};
  const json found = Report({"-"}, raw)["diagnoses"];
  REQUIRE(found.size() == 1);
  CHECK(found[0]["where"]["line"] == 2);
  CHECK(found[0]["where"]["offset"] == 3 + 6);  // the mark, and the first line
  const json marked = Report({"-"}, "\xef\xbb\xbf" + kFailure)["diagnoses"];
  REQUIRE(marked.size() == 1);
  CHECK(marked[0]["where"]["offset"] == 3);
}

}  // namespace TEST_FILE
