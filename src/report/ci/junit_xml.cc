#include "report/ci/junit_xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/encodings.h"

namespace whyoom {
namespace {

std::string Attribute(const char* name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, EscapeMarkup(value, true));
}

std::string Element(const JunitTest& test) {
  const std::string head = "    <testcase" + Attribute("classname", test.class_name) + Attribute("name", test.name);
  if (test.outcome == nullptr) return head + "/>\n";
  return head + ">\n" +
         fmt::format("      <{0}{1}{2}>{3}</{0}>\n", test.outcome, Attribute("type", test.type),
                     Attribute("message", test.message), EscapeMarkup(test.text, false)) +
         "    </testcase>\n";
}

std::string Property(const char* name, const std::string& value) {
  return "      <property" + Attribute("name", name) + Attribute("value", value) + "/>\n";
}

}  // namespace

std::string JunitXml(const std::vector<JunitTest>& tests,
                     const std::vector<std::pair<const char*, std::string>>& properties) {
  const auto count = [&](std::string_view outcome) {
    return std::count_if(tests.begin(), tests.end(),
                         [&](const JunitTest& test) { return test.outcome != nullptr && test.outcome == outcome; });
  };
  const std::string counts = fmt::format(" name=\"whyoom\" tests=\"{}\" failures=\"{}\" errors=\"{}\"", tests.size(),
                                         count("failure"), count("error"));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" + counts +
                     ">\n    <properties>\n";
  for (const auto& [name, value] : properties) text += Property(name, value);
  text += "    </properties>\n";
  for (const JunitTest& test : tests) text += Element(test);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace whyoom
