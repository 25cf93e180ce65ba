// The frameworks that lines and source files show.
#include <string>
#include <vector>

#include "catch.h"
#include "read/context_facts.h"

using namespace whyoom;

namespace TEST_FILE {

Framework Make(const std::string& id, const std::vector<std::string>& signs) {
  Framework framework;
  framework.id = id;
  for (const std::string& sign : signs) {
    std::vector<SyntaxFault> faults;
    framework.signs.push_back(Pattern::Compile(sign, &faults));
    REQUIRE(faults.empty());
  }
  return framework;
}

// Sorted by descending priority: users of "maker" also use "base".
const std::vector<Framework>& Frameworks() {
  static const std::vector<Framework> frameworks = {Make("maker", {"maker\\.py", "Maker v\\d"}),
                                                    Make("other", {"other"}), Make("base", {"\\bbase\\b"})};
  return frameworks;
}

TEST_CASE("the framework with the highest priority counts", "[read]") {
  const FrameworkSigns signs(Frameworks());
  const auto find = [&](const std::string& text, const Framework* known) {
    const Framework* found = signs.Find(text, known);
    return found == nullptr ? "" : found->id;
  };
  CHECK(find("nothing", nullptr).empty());
  CHECK(find("the base", nullptr) == "base");
  CHECK(find("other base", nullptr) == "other");
  CHECK(find("Maker v3 of base", nullptr) == "maker");
  CHECK(find("from maker.py", nullptr) == "maker");
  // A framework seen before is kept, unless its priority is lower.
  CHECK(find("the base", &Frameworks()[1]) == "other");
  CHECK(find("the other", &Frameworks()[2]) == "other");
  CHECK(find("the other", &Frameworks()[0]) == "maker");
  CHECK(find("from maker.py", &Frameworks()[1]) == "maker");
}

TEST_CASE("source files of a program may show a framework of higher priority", "[read]") {
  CHECK(FrameworkOf(Frameworks(), {"/x/base/a.py", "/x/maker.py"}, "") == "maker");
  CHECK(FrameworkOf(Frameworks(), {"/x/base/a.py"}, "") == "base");
  CHECK(FrameworkOf(Frameworks(), {"/x/maker.py"}, "base") == "maker");
  CHECK(FrameworkOf(Frameworks(), {"/x/base/a.py"}, "other") == "other");
  CHECK(FrameworkOf(Frameworks(), {"/x/maker.py"}, "other") == "maker");
  CHECK(FrameworkOf(Frameworks(), {"/x/other.py"}, "maker") == "maker");
  CHECK(FrameworkOf(Frameworks(), {"/x/a.py"}, "").empty());
  CHECK(FrameworkOf(Frameworks(), {}, "base") == "base");
}

}  // namespace TEST_FILE
