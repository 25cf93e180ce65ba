#include "cli/choices.h"

namespace whyoom {

const Choices<Format> kReportFormats = {
    {"text", Format::kText}, {"json", Format::kJson},     {"ndjson", Format::kNdjson}, {"markdown", Format::kMarkdown},
    {"html", Format::kHtml}, {"github", Format::kGithub}, {"sarif", Format::kSarif},   {"junit", Format::kJunit}};
const Choices<Format> kTextOrJson = {{"text", Format::kText}, {"json", Format::kJson}};
const Choices<Format> kExplainFormats = {{"text", Format::kText}, {"markdown", Format::kMarkdown}};
const Choices<ColorMode> kColors = {
    {"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}};
const Choices<ProgressMode> kProgress = {
    {"auto", ProgressMode::kAuto}, {"always", ProgressMode::kAlways}, {"never", ProgressMode::kNever}};
const Choices<PathListForm> kListForms = {
    {"lines", PathListForm::kLines}, {"null", PathListForm::kNull}, {"jsonl", PathListForm::kJsonl}};

}  // namespace whyoom
