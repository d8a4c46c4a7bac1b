// Package learn has what evaluations learn with: k-means, and exact linear
// classifiers, whose loss Newton's method minimises to where rounding hides any
// gain.
//
// Start at [Examples], to which vectors are added; [Logistic] (logistic.go), [Softmax]
// (softmax.go) and [SVM] (svm.go) learn from them, all by newton.go. [KMeans] is in
// kmeans.go.
package learn
