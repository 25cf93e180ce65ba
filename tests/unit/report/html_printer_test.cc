// The page contains the report's JSON and the text, loads nothing, and text of a log stays text. tests/browser checks
// its look and behaviour.
#include <nettle/base64.h>
#include <nettle/sha2.h>

#include <array>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "catch.h"
#include "clean_text.h"
#include "hostile_report.h"
#include "made_report.h"
#include "report/printers.h"
#include "report/report_document.h"
#include "text/embedded.h"

using namespace whyoom;
using nlohmann::json;

namespace TEST_FILE {

// The JSON in the element with this id.
json JsonOf(const std::string& page, const std::string& id) {
  const std::string open = "<script type=\"application/json\" id=\"" + id + "\">";
  const std::size_t begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find("</script>", begin);
  return json::parse(page.substr(begin + open.size(), end - begin - open.size()));
}

TEST_CASE("the page contains the report", "[report]") {
  const FailureRule rule = MadeFailure();
  const Report report = MadeReport({MadeFailure(rule)});
  const std::string page = PrintHtml(report);
  CHECK(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  CHECK(JsonOf(page, "report") == json::parse(PrintJson(report)));
  CHECK(JsonOf(page, "texts")["diagnoses"][0]["need"][0][0] == "jit_step");
}

TEST_CASE("nothing in a log becomes markup of the page", "[report][slow]") {
  const FailureRule rule = HostileFailure();
  const Remedy remedy = HostileRemedy();
  const std::string empty = PrintHtml(MadeReport({}));
  const auto tags = [](const std::string& page) {
    static const std::regex tag("<[a-zA-Z/!]");
    return std::distance(std::sregex_iterator(page.begin(), page.end(), tag), std::sregex_iterator());
  };
  for (const std::size_t count : {0U, 1U, 2U, 4U, 60U}) {
    const std::string page = PrintHtml(HostileReport(rule, remedy, count));
    CHECK(tags(page) == tags(empty));
    CHECK(IsClean(page, "\n"));
    CHECK(page.find("alert(1)") != std::string::npos);  // the attack is in the page, as text
    CHECK(JsonOf(page, "report")["diagnoses"].size() == count);
  }
}

TEST_CASE("the policy forbids fetching, and allows only the page's own script and style", "[report]") {
  const std::string page = PrintHtml(MadeReport({}));
  const auto hash = [&](const std::string& open, const std::string& close) {
    const std::size_t begin = page.rfind(open) + open.size();
    const std::string content = page.substr(begin, page.find(close, begin) - begin);
    sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, content.size(), reinterpret_cast<const std::uint8_t*>(content.data()));
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest;
    sha256_digest(&context, digest.size(), digest.data());
    std::string base64(BASE64_ENCODE_RAW_LENGTH(digest.size()), ' ');
    base64_encode_raw(base64.data(), digest.size(), digest.data());
    return "'sha256-" + base64 + "'";
  };
  CHECK(page.find("content=\"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src " +
                  hash("<style>", "</style>") + "; script-src " + hash("<script>", "</script>") + "\"") !=
        std::string::npos);
  for (const char* unsafe : {"unsafe", "innerHTML", "eval(", "src=", "https://cdn", "@import", "url("})
    CHECK(EmbeddedPage().front().text.find(unsafe) == std::string_view::npos);
}

TEST_CASE("the page of very many failures is bounded, and has the most frequent", "[report][slow]") {
  const FailureRule rule = HostileFailure();
  const Remedy remedy = HostileRemedy();
  const std::string page = PrintHtml(HostileReport(rule, remedy, 3000));
  CHECK(page.size() < 30'000'000);  // hostile names are many times longer than usual ones
  CHECK(JsonOf(page, "report")["diagnoses"].size() == 2000);
}

TEST_CASE("the common folder of all paths is printed once", "[report]") {
  const FailureRule rule = MadeFailure();
  const auto of = [&](const std::vector<std::string>& paths) {
    Report report = MadeReport({});
    for (const std::string& path : paths) {
      report.failures.push_back(MadeFailure(rule));
      report.failures.back().where.artifact.path = path;
    }
    return CommonFolder(report);
  };
  CHECK(of({"logs/run1/a.log", "logs/run2/b.log"}) == "logs/");
  CHECK(of({"logs/run1/a.log", "logs/run10/b.log"}) == "logs/");
  CHECK(of({"/srv/logs/a.log", "/srv/logs/b.log"}) == "/srv/logs/");
  CHECK(of({"/srv/logs/a.log", "/opt/b.log"}).empty());  // "/" does not shorten paths much
  CHECK(of({"logs/a.log", "-"}).empty());
  CHECK(of({"a.log", "b.log"}).empty());
  CHECK(of({"logs/a.log"}).empty());
  CHECK(BelowFolder("logs/run1/a.log:7", "logs/") == "run1/a.log:7");
  CHECK(BelowFolder("other/a.log:7", "logs/") == "other/a.log:7");
}

}  // namespace TEST_FILE
