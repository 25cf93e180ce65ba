// Searching for many patterns in a text.
#include "rules/pattern_set.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

using Places = std::vector<std::size_t>;

// A set with its own patterns.
class Made {
 public:
  explicit Made(const std::vector<std::string>& sources) {
    std::vector<SyntaxFault> faults;
    for (const std::string& source : sources) patterns_.push_back(Pattern::Compile(source, &faults));
    std::vector<const Pattern*> borrowed;
    for (const Pattern& pattern : patterns_) borrowed.push_back(&pattern);
    set_ = std::make_unique<PatternSet>(borrowed);
  }

  Places In(std::string_view text) const { return set_->In(text); }

  // Searches for one pattern after the other.
  Places Each(std::string_view text) const {
    Places found;
    PatternMatch match;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (patterns_[i].Find(text, 0, &match)) found.push_back(i);
    }
    return found;
  }

 private:
  std::vector<Pattern> patterns_;
  std::unique_ptr<PatternSet> set_;
};

TEST_CASE("an empty set finds nothing", "[rules]") {
  const PatternSet none({});
  CHECK(none.In("").empty());
  CHECK(none.In("anything").empty());
}

TEST_CASE("a pattern may match only if the words of its literal occur in order", "[rules]") {
  std::vector<SyntaxFault> faults;
  const Pattern pattern = Pattern::Compile("Out of memory on %{word:device}", &faults);
  const PatternSet set({&pattern});
  CHECK(set.FindCandidates("Out of memory on gpu:0") == Places{0});
  CHECK(set.FindCandidates("OUT  OF\n\tMEMORY ON") == Places{0});
  CHECK(set.FindCandidates("layout of memory one") == Places{0});  // parts of other words: RE2 decides
  CHECK(set.FindCandidates("memory on out of, out of memory").empty());
  CHECK(set.FindCandidates("out ofmemory on").empty());
  CHECK(set.FindCandidates("out of memory").empty());
  CHECK(set.FindCandidates("out of memory out of memory on gpu:1") == Places{0});
}

TEST_CASE("matching patterns are returned in ascending order", "[rules]") {
  const Made set({"zebra", "apple", "memory", "apple"});
  CHECK(set.In("an apple, then a zebra") == Places{0, 1, 3});
  CHECK(set.In("out of memory") == Places{2});
  CHECK(set.In("nothing of these").empty());
  CHECK(set.In("").empty());
}

TEST_CASE("anchors of patterns are respected", "[rules]") {
  const Made set({"^begin", "end$", "middle", ""});
  CHECK(set.In("begin middle end").size() >= 3);
  CHECK(set.In("x begin middle end x") == set.Each("x begin middle end x"));
  const Made anchored({"^begin", "end$"});
  CHECK(anchored.In("begin end") == Places{0, 1});
  CHECK(anchored.In("x begin end x").empty());
}

TEST_CASE("patterns that are empty or did not compile are never found and keep their index", "[rules]") {
  const Made set({"first", "(", "last"});
  CHECK(set.In("first ( last") == Places{0, 2});
  const Pattern none;
  const PatternSet empty({&none});
  CHECK(empty.In("").empty());
  CHECK(empty.In("text").empty());
}

TEST_CASE("a set finds what each pattern finds alone", "[rules]") {
  const Made set({"Ran out of memory", "used %{size:used_bytes}", "tag %{word:tag}", "(?i)oom", "a\\x20b",
                  "(?P<module>\\w+) failed", "%{device:device}"});
  for (const char* text :
       {"Ran out of memory", "Ran  out\nof\tmemory", "used 5.02G of 7", "used nothing", "tag x", "OOM", "a b", "a\tb",
        "jit_step failed", "0x1x0_HBM0", "\xff\xfe", "Ran out of memory: used 1G, tag y, Oom"}) {
    INFO(text);
    CHECK(set.In(text) == set.Each(text));
  }
  CHECK(set.In("Ran  out\nof\tmemory") == Places{0});
  CHECK(set.In("a\tb").empty());
}

TEST_CASE("a text with NUL bytes is searched to its end", "[rules]") {
  const Made set({"last"});
  CHECK(set.In(std::string_view("\0\0last", 6)) == Places{0});
}

TEST_CASE("a set can be searched by many threads at once", "[rules]") {
  std::vector<std::string> sources;
  for (int i = 0; i < 50; ++i) sources.push_back("word" + std::to_string(i) + "\\b");
  const Made set(sources);
  std::vector<Places> found(4);
  std::vector<std::thread> threads;
  for (Places& places : found) threads.emplace_back([&] { places = set.In("word7 word49 word500"); });
  for (std::thread& thread : threads) thread.join();
  for (const Places& places : found) CHECK(places == Places{7, 49});
}

TEST_CASE("the build has stored the literals of the built-in header patterns", "[rules]") {
  const RuleSource source;
  for (const FailureRule& failure : source.rules().failures) {
    for (const HeaderPattern& head : failure.header_patterns) {
      INFO(failure.code << " " << head.pattern.source());
      CHECK(head.pattern.parts().set_literals == head.pattern.Literals(Pattern::kSetLiteral));
    }
  }
}

TEST_CASE("a pattern needs all words of one of its alternatives", "[rules]") {
  const Made set({"(?:used all bytes|took every page) of the card", "short|longer words"});
  for (const char* text : {"used all bytes of the card", "took  every\npage of the card", "used every page of the card",
                           "all the card", "short", "longer words", "words"}) {
    INFO(text);
    CHECK(set.In(text) == set.Each(text));
  }
  CHECK(set.In("took  every\npage of the card") == Places{0});
}

}  // namespace TEST_FILE

}  // namespace whyoom
