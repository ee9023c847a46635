// SPDX-License-Identifier: Apache-2.0
// Matrix: reports of many backends as one table, backends × operator versions. Of each report it keeps what the table
// says, so that the table can be made again where the reports are not (matrix.schema.json).
#pragma once

#include "reference/number.h"
#include "reports/render.h"

#include <map>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace assay::reports {

struct MatrixCell {
  std::string certified, level;         // "not conforming", "L2"; no level where nothing passed
  std::map<std::string, Int> breaches;  // what breaks conformance, by state or mark
  Int judged = 0, legal = 0, unsupported = 0;
};

// All text is fit for one line: strangers said some of it.
struct MatrixRow {
  std::string backend, version;
  std::vector<std::string> settings;   // "threads=4": those that are not the usual ones
  std::vector<std::string> otherwise;  // "suite 7bb11cf4, 1500 cases": what was run otherwise than for most rows
  std::map<std::string, MatrixCell> cells;
  std::map<std::string, Int> totals;  // by state
  Int marks = 0, seconds = 0;
  std::vector<std::string> readings;  // "A3=clamp0": the reading it follows most
};

struct Matrix {
  std::vector<Json> reports;          // what is kept of each; one row each
  std::vector<std::string> versions;  // operator versions of any row: by name, then by number
  std::vector<std::string> measure;   // what most rows ran and how, in words
  std::vector<MatrixRow> rows;
};

// Of reports of certify and of matrices that were written as JSON, in this order. Throws InputError where a file is
// neither: a campaign's cases are its own.
Matrix read_matrix(std::span<const std::string> files);

void write_matrix_markdown(const Matrix& matrix, std::ostream& out);
void write_matrix_summary(const Matrix& matrix, std::ostream& out);  // Markdown without the cells
void write_matrix_page(const Matrix& matrix, std::ostream& out);
void write_matrix_json(const Matrix& matrix, std::ostream& out);

}  // namespace assay::reports
