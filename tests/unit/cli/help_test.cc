// --help and -h of every command fit their width and height.
#include "cli/help.h"

#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "cli/commands.h"
#include "report/layout.h"
#include "text/utf8.h"

using namespace whyoom;

namespace TEST_FILE {

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Calls `use` for each command and subcommand.
void ForEach(auto use) {
  for (const CommandDefinition& command : Commands()) {
    Options options;
    const CommandArguments built = command.build(&options);
    use(*built.app, built.trailer);
    for (const CLI::App* sub : built.app->get_subcommands({})) use(*sub, std::string());
  }
}

TEST_CASE("short help fits a screen of 80 by 24", "[cli]") {
  ForEach([](const CLI::App& app, const std::string& trailer) {
    INFO(FullName(app));
    const std::vector<std::string> lines = LinesOf(ShortHelp(app, trailer));
    CHECK(lines.size() < 24);
    for (const std::string& line : lines) {
      INFO(line);
      CHECK(DisplayWidth(line) <= 80);
    }
    CHECK(lines.back().find(FullName(app) + " --help") != std::string::npos);
  });
}

TEST_CASE("long help fits the given width", "[cli]") {
  ForEach([](const CLI::App& app, const std::string& trailer) {
    INFO(FullName(app));
    for (const std::size_t width : {60, 80, 110}) {
      for (const std::string& line : LinesOf(LongHelp(app, trailer, width))) {
        // Examples are not wrapped.
        if (DisplayWidth(line) > width && line.find("whyoom ") == std::string::npos &&
            line.find_first_of(' ', line.find_first_not_of(' ')) != std::string::npos)
          FAIL_CHECK(width << ": " << line);
        if (width == 110) CHECK(DisplayWidth(line) <= 110);
      }
    }
  });
}

TEST_CASE("long help contains the whole description of each option", "[cli]") {
  ForEach([](const CLI::App& app, const std::string& trailer) {
    std::string flat;
    std::istringstream words(LongHelp(app, trailer, 70));
    for (std::string word; words >> word;) flat += word + " ";
    for (const CLI::Option* option : app.get_options()) {
      std::string about;
      std::istringstream own(option->get_description());
      for (std::string word; own >> word;) about += word + " ";
      INFO(FullName(app) << " " << about);
      CHECK(flat.find(about) != std::string::npos);
    }
  });
}

TEST_CASE("short help of whyoom begins with examples", "[cli]") {
  Options options;
  const CommandArguments built = Commands().front().build(&options);
  const std::vector<std::string> lines = LinesOf(ShortHelp(*built.app, ""));
  REQUIRE(lines.size() > 6);
  for (std::size_t i = 0; i < 5; ++i) CHECK(lines[i].find("whyoom") != std::string::npos);
  CHECK(lines[0].find("whyoom run -- ") == 2);
  CHECK(lines[5].empty());
}

}  // namespace TEST_FILE
