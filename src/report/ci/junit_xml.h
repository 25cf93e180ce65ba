// Tests and what came of them as JUnit XML, of the form that Jenkins and GitLab read (see junit_printer.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace whyoom {

struct JunitTest {
  std::string class_name;
  std::string name;
  const char* outcome = nullptr;  // element that says what went wrong; null: passed
  std::string type;
  std::string message;
  std::string text;
};

// One suite, with properties by name. Characters that XML cannot write are replaced.
std::string JunitXml(const std::vector<JunitTest>& tests,
                     const std::vector<std::pair<const char*, std::string>>& properties);

}  // namespace whyoom
