// Facts from lines before an error, and which of them apply.
#include "read/context_facts.h"

#include <string>
#include <vector>

#include "catch.h"
#include "made_lines.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::uint64_t kEnd = 1000000;  // an offset after all lines

// Returns the facts that each failure (a line "T1" or "T2") has from other lines: "T1 at 3: test_step=4@2".
std::string FactsOfEach(const std::vector<std::string>& texts) {
  ContextFacts said;
  const std::deque<Line> lines = LinesOf(texts);
  const auto failure_of = [](const Line& line) { return TestEngine().rules().FindFailure(line.text); };
  // Like a session, which reads lines ahead of the failures before them.
  for (const Line& line : lines) {
    const std::deque<Line> alone = {line};
    const JoinedLines joined(alone, 1);
    for (const ContextFinder::Found& found : TestEngine().matchers().contexts.Find(joined)) said.Add(found, joined);
  }
  std::string shown;
  for (const Line& line : lines) {
    if (failure_of(line) == nullptr) continue;
    Evidence facts;
    said.AddTo(*failure_of(line), line.offset, &facts);
    said.AddFailure(*failure_of(line), line.offset);
    shown += line.text + " at " + std::to_string(line.number) + ": " + ShowWithLines(facts) + "\n";
  }
  return shown;
}

// Returns `knows` with the facts that failure `code` has from these lines. Each line is searched separately.
std::string FactsFor(const std::string& code, const std::vector<std::string>& texts, Evidence knows = {}) {
  ContextFacts said;
  const std::deque<Line> lines = LinesOf(texts);
  for (const Line& line : lines) {
    const std::deque<Line> alone = {line};
    const JoinedLines joined(alone, 1);
    for (const ContextFinder::Found& found : TestEngine().matchers().contexts.Find(joined)) said.Add(found, joined);
  }
  said.AddTo(*TestEngine().rules().FindFailure(code), kEnd, &knows);
  return ShowWithLines(knows);
}

std::string Found(const std::vector<std::string>& texts) {
  std::string shown;
  const std::deque<Line> lines = LinesOf(texts);
  for (const auto& found : TestEngine().matchers().contexts.Find(JoinedLines(lines, 12)))
    shown += found.context->id + ":" + std::to_string(found.match.begin) + " ";
  return shown;
}

TEST_CASE("contexts are found if they begin in the first line", "[read]") {
  CHECK(Found({"at test step 3, test mesh of 8"}) == "test_mesh:16 test_step:3 ");
  CHECK(Found({"test step", "3"}) == "test_step:0 ");
  CHECK(Found({"step", "test step 3"}).empty());
}

TEST_CASE("the last match of each pattern counts, with all its captures", "[read]") {
  CHECK(FactsFor("T1", {"test step 3 of 5"}) == "test_step=3@1 test_steps=5@1");
  CHECK(FactsFor("T1", {"test step 3 of 5", "test step 4"}) == "test_step=4@2");
  // Two patterns of one context may set the same fact.
  CHECK(FactsFor("T1", {"test step 3 of 5", "then step 4"}) == "test_step=4@2 test_steps=5@1");
  CHECK(FactsFor("T1", {"then step 4", "test step 3 of 5"}) == "test_step=3@2 test_steps=5@2");
}

TEST_CASE("facts apply from where they are printed until others replace them", "[read]") {
  CHECK(FactsOfEach({"test step 3", "T1", "test step 4", "T1", "T1"}) ==
        "T1 at 2: test_step=3@1\nT1 at 4: test_step=4@3\nT1 at 5: test_step=4@3\n");
  CHECK(FactsOfEach({"T1", "test step 3"}) == "T1 at 1: \n");
  CHECK(FactsOfEach({"test step 3 of 5", "T1", "test mesh of 8", "T1"}) ==
        "T1 at 2: test_step=3@1 test_steps=5@1\nT1 at 4: test_devices=8@3 test_step=3@1 test_steps=5@1\n");
}

TEST_CASE("facts of one program apply to the next failure only", "[read]") {
  CHECK(FactsOfEach({"test needs 7B", "T1", "T1"}) == "T1 at 2: test_need=7@1\nT1 at 3: \n");
  // A failure that does not use them leaves them to the next.
  CHECK(FactsOfEach({"test needs 7B", "T2", "T1"}) == "T2 at 2: \nT1 at 3: test_need=7@1\n");
}

TEST_CASE("facts of a program that is done do not apply to later failures", "[read]") {
  CHECK(FactsOfEach({"test needs 7B", "test program done", "T1"}) == "T1 at 3: \n");
  CHECK(FactsOfEach({"test needs 7B", "test program done", "test needs 8B", "T1"}) == "T1 at 4: test_need=8@3\n");
  // They still apply to a failure before the program is done.
  CHECK(FactsOfEach({"test needs 7B", "T1", "test program done"}) == "T1 at 2: test_need=7@1\n");
  // Facts of other contexts still apply.
  CHECK(FactsOfEach({"test step 3", "test needs 7B", "test program done", "T1"}) == "T1 at 4: test_step=3@1\n");
}

TEST_CASE("only the failure's contexts add facts, and only unknown ones", "[read]") {
  CHECK(FactsFor("T2", {"test step 3 of 5"}).empty());
  Evidence knows;
  knows.Set("test_step", 9.0, {7, 0});
  CHECK(FactsFor("T1", {"test step 3 of 5"}, knows) == "test_step=9@7 test_steps=5@1");
}

TEST_CASE("the last match is the last in the log, not the last added", "[read]") {
  const std::deque<Line> lines = LinesOf({"test step 3", "test step 4"});
  ContextFacts said;
  for (const std::size_t i : {1, 0}) {
    const std::deque<Line> alone = {lines[i]};
    const JoinedLines joined(alone, 1);
    for (const ContextFinder::Found& found : TestEngine().matchers().contexts.Find(joined)) said.Add(found, joined);
  }
  Evidence facts;
  said.AddTo(*TestEngine().rules().FindFailure("T1"), kEnd, &facts);
  CHECK(ShowWithLines(facts) == "test_step=4@2");
}

}  // namespace TEST_FILE
