// Short texts for a diagnosis.
#include "report/ci/brief.h"

#include <string>
#include <vector>

#include "catch.h"
#include "made_report.h"
#include "text/utf8.h"

using namespace whyoom;

namespace TEST_FILE {

std::vector<std::string> Paragraphs(const std::string& text) {
  std::vector<std::string> paragraphs;
  std::size_t begin = 0;
  for (std::size_t end = text.find("\n\n"); end != std::string::npos; end = text.find("\n\n", begin)) {
    paragraphs.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  paragraphs.push_back(text.substr(begin));
  return paragraphs;
}

TEST_CASE("the location in a brief is the artifact and the line", "[report]") {
  CHECK(BriefPlace({{"train.log", ""}, 41, 50, 7}) == "train.log:41");
  CHECK(BriefPlace({{"logs.tar", "train.log"}, 1, 1, 0}) == "logs.tar › train.log:1");
}

TEST_CASE("names of up to 500 bytes are printed in full, longer ones are cut before the line", "[report]") {
  const std::string longest(500, 'x');
  CHECK(BriefPlace({{longest, ""}, 41, 41, 0}) == longest + ":41");
  const std::string cut = BriefPlace({{longest + "y", ""}, 41, 41, 0});
  CHECK(cut.size() <= 500 + 3);
  CHECK(cut.starts_with("xxxx"));
  CHECK(cut.ends_with(":41"));
  CHECK(cut.find('y') == std::string::npos);
}

TEST_CASE("a problem is printed with its location, if it has one", "[report]") {
  CHECK(ProblemText({"logs.tar", "train.log", "the archive is cut short"}) ==
        "logs.tar › train.log: the archive is cut short");
  CHECK(ProblemText({"train.log", "", "it ends too early"}) == "train.log: it ends too early");
  CHECK(ProblemText({"", "", "there is no room"}) == "there is no room");
  const std::string hostile = ProblemText({kHostileText, kHostileText, kHostileText});
  CHECK(Printable(hostile) == hostile);
}

TEST_CASE("verdict, figures, reasons, remedies and location are separate paragraphs", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  failure.why = {{"The first reason.", 3}};
  Remedy shard;
  shard.id = "shard";
  shard.title = "Shard it";
  RankedRemedy ranked;
  ranked.rank = 1;
  ranked.remedy = &shard;
  ranked.how = {"Use a mesh."};
  failure.remedies = {ranked};
  const std::vector<std::string> paragraphs = Paragraphs(BriefText(failure));
  REQUIRE(paragraphs.size() == 4);
  CHECK(paragraphs[0].starts_with("a test – too large."));
  CHECK(paragraphs[0].find("3.00 GiB") != std::string::npos);
  CHECK(paragraphs[0].find("1.00 GiB") != std::string::npos);
  CHECK(paragraphs[0].find("2.00 GiB too much") != std::string::npos);
  CHECK(paragraphs[0].find("jit_step") != std::string::npos);
  CHECK(paragraphs[1] == "The first reason.");
  CHECK(paragraphs[2].find("Shard it") != std::string::npos);
  CHECK(paragraphs[2].find("Use a mesh.") != std::string::npos);
  CHECK(paragraphs[3].find("logs/train.log:7") != std::string::npos);
  CHECK(paragraphs[3].find("whyoom explain T1.2") != std::string::npos);
}

TEST_CASE("unknown values have no paragraph and no sentence", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  failure.facts = Evidence();
  failure.message.clear();
  const std::vector<std::string> paragraphs = Paragraphs(BriefText(failure));
  REQUIRE(paragraphs.size() == 2);
  CHECK(paragraphs[0] == "a test – too large.");
  CHECK(paragraphs[1].starts_with("Reported at logs/train.log:7"));
}

TEST_CASE("a brief mentions that the log has only a fragment", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  CHECK(BriefText(failure).find("fragment") == std::string::npos);
  failure.confidence = Confidence::kLow;
  CHECK(BriefText(failure).find("fragment") != std::string::npos);
}

TEST_CASE("a brief is printable and at most 4000 bytes for every log", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = HostileFailure(rule);
  const auto holds = [](const std::string& text) {
    CHECK(text.size() <= 4000);
    for (const std::string& paragraph : Paragraphs(text)) {
      CHECK_FALSE(paragraph.empty());
      CHECK(Printable(paragraph) == paragraph);
    }
  };
  holds(BriefText(failure));
  std::string very_long;
  for (int i = 0; i < 2000; ++i) very_long += "ä long word ";
  Remedy remedy;
  remedy.title = very_long;
  RankedRemedy ranked;
  ranked.remedy = &remedy;
  ranked.how = {very_long, very_long};
  failure.remedies.assign(50, ranked);
  failure.why.assign(50, {very_long, 1});
  failure.message = very_long;
  failure.where.artifact = {very_long, very_long};
  failure.facts.Set("module", very_long, {1, 0}, true);
  holds(BriefText(failure));
  failure.why.clear();
  const std::string text = BriefText(failure);
  holds(text);
  CHECK(text.find("Reported at ") != std::string::npos);  // the location is kept, however long the other paragraphs are
}

}  // namespace TEST_FILE
