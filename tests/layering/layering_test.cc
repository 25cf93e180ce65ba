// The layers of src/README.md: each may include only what stands to its right, and only cli touches the process.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kLayers = {"cli", "report", "diagnose", "program", "rules", "text", "input"};

std::size_t LayerOf(const std::string& name) {
  return static_cast<std::size_t>(std::find(kLayers.begin(), kLayers.end(), name) - kLayers.begin());
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

// What one source file does that its layer may not.
std::vector<std::string> Violations(const std::string& layer, const std::string& text) {
  std::vector<std::string> violations;
  static const std::regex include(R"re(#include "(\w+)/[^"]+")re");
  for (std::sregex_iterator match(text.begin(), text.end(), include), end; match != end; ++match) {
    if (LayerOf((*match)[1]) < LayerOf(layer)) violations.push_back(layer + " includes " + (*match)[1].str());
    if (LayerOf((*match)[1]) == kLayers.size()) violations.push_back("unknown layer " + (*match)[1].str());
  }
  static const std::regex process(R"re(\bstd::(cout|cerr|exit|getenv|signal)\b|\b(printf|isatty|getenv)\()re");
  std::smatch found;
  if (layer != "cli" && std::regex_search(text, found, process)) violations.push_back(layer + " uses " + found.str());
  return violations;
}

}  // namespace

TEST_CASE("includes point one way and only cli touches the process", "[layering]") {
  const std::vector<fs::path> sources = Sources();
  REQUIRE(sources.size() > 20);
  for (const fs::path& path : sources) {
    const std::string layer = path.parent_path().filename().string();
    INFO(path);
    REQUIRE(LayerOf(layer) < kLayers.size());
    CHECK(Violations(layer, ReadFile(path)) == std::vector<std::string>());
  }
}

TEST_CASE("the layering check itself sees what it must", "[layering]") {
  CHECK(Violations("input", "#include \"text/line.h\"\n") == std::vector<std::string>{"input includes text"});
  CHECK(Violations("report", "#include \"diagnose/finding.h\"\n").empty());
  CHECK(Violations("rules", "std::cerr << 1;\n").size() == 1);
  CHECK(Violations("cli", "std::getenv(\"TERM\");\n").empty());
  CHECK(Violations("text", "#include \"util/strings.h\"\n") == std::vector<std::string>{"unknown layer util"});
}
