#include "mutation/source_mutants.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "mutation/pattern_tree.h"
#include "rules/pattern.h"

namespace whyoom {
namespace TEST_FILE {

std::set<std::string> Sources(const std::vector<SourceMutant>& mutants) {
  std::set<std::string> sources;
  for (const SourceMutant& mutant : mutants) sources.insert(mutant.source);
  return sources;
}

using Set = std::set<std::string>;

TEST_CASE("each part of a pattern is mutated", "[rules][mutants]") {
  CHECK(Sources(MutatePattern("abc")) == Set{"aqc"});
  CHECK(Sources(MutatePattern("(?:ab|cd|ef)")) ==
        Set{"(?:cd|ef)", "(?:ab|ef)", "(?:ab|cd)", "(?:aq|cd|ef)", "(?:ab|cq|ef)", "(?:ab|cd|eq)"});
  CHECK(Sources(MutatePattern("a?")) == Set{"", "a", "q?"});
  CHECK(Sources(MutatePattern("x\\d+?")) == Set{"q\\d+?", "x\\D+?", "x\\d{1}"});
  CHECK(Sources(MutatePattern("[ab]*")) == Set{"[^ab]*", "[ab]+", "[ab]?"});
  CHECK(Sources(MutatePattern("[^ab]{2,5}")) == Set{"[ab]{2,5}", "[^ab]{2}"});
  CHECK(Sources(MutatePattern("\\bof\\z")) == Set{"of\\z", "\\bof", "\\boq\\z"});
  CHECK(Sources(MutatePattern("%{size:a_bytes} b")) == Set{"%{size:nobody_asks} b", "%{size:a_bytes} q"});
  CHECK(Sources(MutatePattern("(?i)\\(")) == Set{"(?i)~"});
  CHECK(Sources(MutatePattern("q|")) == Set{"", "q", "z|"});
}

TEST_CASE("no mutant of a malformed pattern equals its source", "[rules][mutants]") {
  for (const char* source : {"(", "(a", "a)", "*", "(?P<a", "%{size:", "\\", "[", "a\\x{", "a(?", "a  "}) {
    CAPTURE(source);
    for (const SourceMutant& mutant : MutatePattern(source)) CHECK(mutant.source != source);
  }
  CHECK_FALSE(ParsePattern(std::string(500, '(') + std::string(500, ')')));
}

TEST_CASE("the mutants of every built-in pattern are valid", "[rules][mutants]") {
  std::size_t count = 0;
  for (const FailureRule& failure : BuiltInRules().failures) {
    for (const HeaderPattern& head : failure.header_patterns) {
      const std::vector<SourceMutant> mutants = MutatePattern(head.pattern.source());
      CAPTURE(head.pattern.source());
      CHECK_FALSE(mutants.empty());
      for (const SourceMutant& mutant : mutants) {
        CAPTURE(mutant.source, mutant.what);
        std::vector<SyntaxFault> faults;
        Pattern::Compile(mutant.source, &faults);
        CHECK(faults.empty());
        ++count;
      }
    }
  }
  CHECK(count > 500);
}

TEST_CASE("each part of an expression is mutated", "[rules][mutants]") {
  CHECK(Sources(MutateExpression("a > 0.5 * b")) == Set{"a <= 0.5 * b", "a > 0.55 * b", "a > 0.45 * b", "a > 0.5 / b"});
  CHECK(Sources(MutateExpression("x and y or z")) ==
        Set{"x or y or z", "x and y and z", "y or z", "x or z", "x and y"});
  CHECK(Sources(MutateExpression("not known(a)")) == Set{" known(a)", "not not known(a)"});
  CHECK(Sources(MutateExpression("f('b') == 3")) ==
        Set{"f('nothing like it') == 3", "f('b') != 3", "f('b') == 4", "f('b') == 2"});
  CHECK(Sources(MutateExpression("any_of(p and q)")) ==
        Set{"not any_of(p and q)", "any_of(p or q)", "any_of(q)", "any_of(p)"});
  CHECK(Sources(MutateExpression("a - -1")) == Set{"a + -1", "a - -2", "a - -0"});
  CHECK(MutateExpression("a ? b").empty());
}

TEST_CASE("a default is not mutated if the mutant would be equivalent", "[rules][mutants]") {
  const auto changes_default = [](const std::string& source) {
    const Set sources = Sources(MutateExpression(source));
    return std::any_of(sources.begin(), sources.end(), [](const std::string& mutant) {
      return mutant.find("default(a, 'nothing like it')") != std::string::npos;
    });
  };
  CHECK_FALSE(changes_default("default(a, '') == 'temp'"));
  CHECK_FALSE(changes_default("default(a, '') != 'temp'"));
  CHECK_FALSE(changes_default("b or contains(default(a, ''), 'copy(')"));
  CHECK_FALSE(changes_default("matches(default(a, ''), '^(?:debug|io)_callback$')"));
  CHECK(changes_default("default(a, '') == ''"));
  CHECK(changes_default("default(a, '') == b"));
  CHECK(changes_default("default(a, '')"));
  CHECK(changes_default("default(a, 'temp') == 'temp'"));
  CHECK(changes_default("contains(default(a, ''), 'like')"));
  CHECK(changes_default("contains(default(a, ''), b)"));
  CHECK(changes_default("matches(default(a, ''), '^[^/]*$')"));
  CHECK(changes_default("matches(default(a, ''), 'thing')"));
  CHECK(changes_default("contains('temp', default(a, ''))"));
  // The comparison is still mutated.
  CHECK(Sources(MutateExpression("default(a, '') == 'temp'")) ==
        Set{"default(a, '') != 'temp'", "default(a, '') == 'nothing like it'"});
}

TEST_CASE("the text and placeholders of a template are mutated", "[rules][mutants]") {
  CHECK(Sources(MutateTemplate("Takes {a * 2|size} of {{b}}, {c|percent}.")) ==
        Set{"Other words.", "Takes {a / 2|size} of {{b}}, {c|percent}.", "Takes {a * 3|size} of {{b}}, {c|percent}.",
            "Takes {a * 1|size} of {{b}}, {c|percent}.", "Takes {a * 2|times} of {{b}}, {c|percent}.",
            "Takes {a * 2|size} of {{b}}, {c|times}."});
  // A brace or bar in quotes does not end a placeholder.
  const Set quoted = Sources(MutateTemplate("{if(x == '}|', 1, 2)|size}"));
  CHECK(quoted.contains("{if(x == '}|', 1, 2)|times}"));
  CHECK(quoted.contains("{if(x != '}|', 1, 2)|size}"));
  CHECK(std::none_of(quoted.begin(), quoted.end(),
                     [](const std::string& one) { return one.find("'}times") != one.npos; }));
}

}  // namespace TEST_FILE

}  // namespace whyoom
