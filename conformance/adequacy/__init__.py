"""How strong the corpus is: mutated copies of the reference, judged by the corpus alone."""
