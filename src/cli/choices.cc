#include "cli/choices.h"

namespace whyoom {

const Choices<Format> kReportFormats = {
    {"text", Format::kText, "for people"},
    {"json", Format::kJson, "one object, schema whyoom.report/1"},
    {"ndjson", Format::kNdjson, "one object per line, for batches and whyoom merge"},
    {"markdown", Format::kMarkdown, "to paste into an issue"},
    {"html", Format::kHtml, "one page with charts"},
    {"github", Format::kGithub, "GitHub Actions annotations"},
    {"sarif", Format::kSarif, "2.1.0, for code scanning"},
    {"junit", Format::kJunit, "XML, for CI servers"}};
const Choices<Format> kDiffFormats = {{"text", Format::kText, "for people"},
                                      {"json", Format::kJson, "one object, schema whyoom.diff/1"}};
const Choices<Format> kExplainFormats = {{"text", Format::kText, "for people"},
                                         {"markdown", Format::kMarkdown, "for a wiki or an issue"}};
const Choices<Format> kListFormats = {{"text", Format::kText, "for people"},
                                      {"json", Format::kJson, "one object, schema whyoom.rule_list/1"}};
const Choices<ColorMode> kColors = {{"auto", ColorMode::kAuto, "on a terminal, unless NO_COLOR is set"},
                                    {"always", ColorMode::kAlways, ""},
                                    {"never", ColorMode::kNever, ""}};

const Choices<ProgressMode> kProgress = {
    {"auto", ProgressMode::kAuto, "a bar if standard error is a terminal and reading takes a while"},
    {"always", ProgressMode::kAlways, ""},
    {"never", ProgressMode::kNever, ""}};
const Choices<PathListForm> kListForms = {{"lines", PathListForm::kLines, "one path or file: URI per line"},
                                          {"null", PathListForm::kNull, "as written by find -print0"},
                                          {"jsonl", PathListForm::kJsonl, "one JSON string per line"}};

const Choices<Shell> kShells = {{"bash", Shell::kBash, "into ~/.local/share/bash-completion/completions/whyoom"},
                                {"zsh", Shell::kZsh, "into a folder of $fpath, as _whyoom"},
                                {"fish", Shell::kFish, "into ~/.config/fish/completions/whyoom.fish"}};

}  // namespace whyoom
