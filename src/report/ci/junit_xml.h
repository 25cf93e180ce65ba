// Test results as JUnit XML, in the form that Jenkins and GitLab read (see printers.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace whyoom {

struct JunitTest {
  std::string class_name;
  std::string name;
  const char* outcome = nullptr;  // element name, such as "failure"; null: passed
  std::string type;
  std::string message;
  std::string text;
};

// One suite, with properties by name. Replaces characters that XML cannot represent.
std::string JunitXml(const std::vector<JunitTest>& tests,
                     const std::vector<std::pair<const char*, std::string>>& properties);

}  // namespace whyoom
