#include "cli/embedded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/layout.h"
#include "rules/rule_set.h"

namespace whyoom {
std::string VersionText() {
  const BuildFacts& build = TheBuild();
  return "whyoom " WHYOOM_VERSION "\ncommit     " + build.commit + "\nbuilt by   " + build.compiler + '\n' +
         Hanging("with       ", 11, fmt::format("{}", fmt::join(build.libraries, ", ")), 80) + "rules      " +
         RuleSource().head().fingerprint;
}

}  // namespace whyoom
