#include "input/stored_searches.h"

namespace whyoom {

std::string SearchName(const std::vector<std::string>& literals) {
  std::string name;
  for (const std::string& literal : literals) {
    name += literal;
    name += '\0';
  }
  return name;
}

}  // namespace whyoom
