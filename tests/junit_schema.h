// Validates JUnit XML against the schema of Jenkins's xUnit plugin with xmllint (libxml2-utils).
#pragma once

#include <string>

#include "catch.h"
#include "process.h"

inline bool HasXmllint() {
  static const bool has = RunProcess({"/usr/bin/env", "xmllint", "--version"}).exit_status == 0;
  if (!has) WARN("JUnit XML is NOT checked against its schema: xmllint (libxml2-utils) is missing");
  return has;
}

// The errors in `xml`; empty if it is valid. Needs xmllint.
inline std::string JunitFault(const std::string& xml) {
  const ScratchFolder scratch;
  const ProcessResult checked =
      RunProcess({"/usr/bin/env", "xmllint", "--noout", "--nonet", "--schema",
                  std::string(WHYOOM_SOURCE_DIR) + "/tests/schemas/junit-10.xsd", scratch.Write("junit.xml", xml)});
  return checked.exit_status == 0 ? "" : checked.out + checked.err + " ";
}

inline void CheckJunit(const std::string& xml) {
  if (HasXmllint()) CHECK(JunitFault(xml).empty());
}
