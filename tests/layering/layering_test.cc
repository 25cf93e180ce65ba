// The layers of src/README.md: a directory may include only lower layers, which prevents cycles, and only cli uses the
// process.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"

namespace TEST_FILE {

namespace fs = std::filesystem;

// Top layer first. Directories of one layer may not include each other.
const std::vector<std::vector<std::string>> kLayers = {{"cli"},   {"report"}, {"diagnose"}, {"read", "program"},
                                                       {"facts"}, {"rules"},  {"text"},     {"input"}};

std::size_t LayerOf(const std::string& layer) {
  const auto position = std::find_if(kLayers.begin(), kLayers.end(), [&](const std::vector<std::string>& layers) {
    return std::find(layers.begin(), layers.end(), layer) != layers.end();
  });
  return static_cast<std::size_t>(position - kLayers.begin());
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> Sources() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(WHYOOM_SOURCE_DIR) / "src")) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".h" || extension == ".cc") files.push_back(entry.path());
  }
  return files;
}

// The violations of one source file.
std::vector<std::string> Violations(const std::string& layer, const std::string& text) {
  std::vector<std::string> violations;
  static const std::regex include(R"re(#include "(\w+)/([^"]+)")re");
  for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match) {
    const std::string other = (*match)[1];
    const std::size_t position = LayerOf(other);
    if (position == kLayers.size()) {
      violations.push_back("unknown layer " + other);
    } else if (other != layer && position <= LayerOf(layer)) {
      violations.push_back(layer + " includes " + other);
    } else if (other == "program" && layer != "program" && (*match)[2] != "xla_dump.h" && (*match)[2] != "listed.h") {
      violations.push_back(layer + " includes program/" + (*match)[2].str());
    }
  }
  static const std::regex process(R"re(\bstd::(cout|cerr|exit|getenv|signal)\b|\b(printf|isatty|getenv)\()re");
  std::smatch found;
  if (layer != "cli" && std::regex_search(text, found, process)) violations.push_back(layer + " uses " + found.str());
  return violations;
}

TEST_CASE("includes point downwards and only cli uses the process", "[layering][slow]") {
  const std::vector<fs::path> sources = Sources();
  REQUIRE(sources.size() > 20);
  for (const fs::path& path : sources) {
    const std::string layer = fs::relative(path, fs::path(WHYOOM_SOURCE_DIR) / "src").begin()->string();
    INFO(path);
    REQUIRE(LayerOf(layer) < kLayers.size());
    CHECK(Violations(layer, ReadFile(path)) == std::vector<std::string>());
  }
}

TEST_CASE("the layering check detects violations", "[layering]") {
  CHECK(Violations("input", "#include \"text/line.h\"\n") == std::vector<std::string>{"input includes text"});
  CHECK(Violations("report", "#include \"facts/failure.h\"\n").empty());
  CHECK(Violations("rules", "std::cerr << 1;\n").size() == 1);
  CHECK(Violations("cli", "std::getenv(\"TERM\");\n").empty());
  CHECK(Violations("text", "#include \"util/strings.h\"\n") == std::vector<std::string>{"unknown layer util"});
  CHECK(Violations("read", "#include \"diagnose/report.h\"\n") == std::vector<std::string>{"read includes diagnose"});
  CHECK(Violations("read", "#include \"read/session.h\"\n").empty());
  CHECK(Violations("cli", "#include \"program/xla_dump.h\"\n").empty());
  CHECK(Violations("cli", "#include \"program/hlo.h\"\n") == std::vector<std::string>{"cli includes program/hlo.h"});
}

}  // namespace TEST_FILE
