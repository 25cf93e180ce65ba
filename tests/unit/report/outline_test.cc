// Templates as shown to a reader without a log.
#include "report/outline.h"

#include <string>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

std::string Outline(const std::string& source) {
  std::vector<SyntaxFault> faults;
  static const Terms terms = {{"is_big", Expression::Compile("a > 1", &faults)}};
  const Template made = Template::Compile(source, &faults, terms);
  CHECK(faults.empty());
  return whyoom::Outline(made);
}

TEST_CASE("a placeholder becomes a description of its value", "[report]") {
  CHECK(Outline("Outputs take {output_bytes|size}.") == "Outputs take ‹output bytes›.");
  CHECK(Outline("{size_bytes / limit_bytes|percent} of the limit") == "‹size bytes / limit bytes in %› of the limit");
  CHECK(Outline("off by {abs(used_bytes)}") == "off by ‹used bytes›");
  CHECK(Outline("to {ceil(made.length / made.parts)}") == "to ‹made length / made parts›");
  CHECK(Outline("{2 * default(steps, 1)} of {min(a, b)}") == "‹2 x steps› of ‹a›");
  CHECK(Outline("{first_of(source, is_big)} and {count_of(is_big)}") == "‹source› and ‹number›");
  CHECK(Outline("{sum_of(size_bytes, true)|size}") == "‹size bytes›");
  CHECK(Outline("{{\"level\": 39}}") == "{\"level\": 39}");
}

TEST_CASE("literal texts of the rule data are shown unchanged", "[report]") {
  CHECK(Outline("{if(known(x), unknown, 'Lower it.')}") == "Lower it.");
  CHECK(Outline("tiles{if(x > 1, ' of each', '')}") == "tiles of each");
  CHECK(Outline("{if(x > 1, 'Weights', 'Activations')} stay") == "‹Weights or Activations› stay");
  CHECK(Outline("{if(x > 1, if(y > 1, 'A', unknown), 'B')}") == "‹A or B›");
  CHECK(Outline("{default(largest.shape, 'the largest one')|short}") == "‹largest shape or the largest one›");
  CHECK(Outline("{if(x > 0, x, unknown)}") == "‹x›");
  CHECK(Outline("{unknown}") == "‹›");
}

}  // namespace TEST_FILE
}  // namespace whyoom
